// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import FirestoreProtocol
import FirestoreSimulation
public import Hearth

/// The backend of a ``TestStage``, from the side of the server: writes that no client made, and what is stored there.
/// No fault is in its way.
public struct TestServer: Sendable {
  private let server: any Datastore
  /// Makes references and values; it is never opened.
  private let db: Firestore

  init(_ world: SimulatedWorld) {
    server = world.server
    db = Firestore.firestore(
      app: FirestoreApp(
        name: "server", projectID: world.database.project,
        backend: .datastore(server, in: world.surroundings(of: "server"))))
  }

  /// Writes a document, in place of the one that is there, or merged into it.
  /// - Throws: `FirestoreError` for a wrong path or wrong data.
  public nonisolated(nonsending) func set(
    _ path: String, _ data: [String: Any], merge: Bool = false
  ) async throws {
    let document = db.document(path)
    try await commit(try merge ? document.mergeMutation(data) : document.setMutation(data))
  }

  /// Changes fields of a document that exists.
  /// - Throws: `FirestoreError`, `notFound` if the document does not exist.
  public nonisolated(nonsending) func update(_ path: String, _ fields: [String: Any]) async throws {
    try await commit(try db.document(path).updateMutation(fields))
  }

  /// Deletes a document.
  /// - Throws: `FirestoreError` for a wrong path.
  public nonisolated(nonsending) func delete(_ path: String) async throws {
    try await commit(try db.document(path).deleteMutation())
  }

  /// The document as the server has it now; one that does not exist has no data.
  /// - Throws: `FirestoreError` for a wrong path.
  public nonisolated(nonsending) func document(_ path: String) async throws -> any DocumentSnapshot {
    let key = try db.document(path).deleteMutation().key
    do throws(RPCStatus) {
      guard let document = try await server.lookup([key]).first else {
        throw RPCStatus(.internal, "The backend gave no answer about \(path).")
      }
      return db.snapshot(atBackend: document)
    } catch { throw FirestoreError(error) }
  }

  private nonisolated(nonsending) func commit(_ mutation: Mutation) async throws {
    do { try mutation.validateForWrite() } catch {
      throw FirestoreError(FirestoreError.Code(error.code), error.message)
    }
    do throws(RPCStatus) { _ = try await server.commit([mutation]) } catch { throw FirestoreError(error) }
  }

  /// Lets go of the references.
  func close() async {
    // Nothing was opened that could fail to be closed.
    try? await db.terminate()
  }
}
