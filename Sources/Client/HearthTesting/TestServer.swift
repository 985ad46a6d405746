// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import FirestoreProtocol
import FirestoreSimulation
public import Hearth

/// The server side of a ``TestStage``'s backend. Use it to read stored documents and to write without a client.
/// Injected faults do not affect these calls.
public struct TestServer: Sendable {
  private let server: any Datastore
  /// Creates references and values for the calls. This instance never connects to a backend.
  private let db: Firestore

  init(_ world: SimulatedWorld) {
    server = world.server
    db = Firestore.firestore(
      app: FirestoreApp(
        name: "server", projectID: world.database.project,
        backend: .datastore(server, in: world.surroundings(of: "server"))))
  }

  /// Replaces a document, or merges fields into it.
  /// - Throws: `FirestoreError` if the path or the data is invalid.
  public nonisolated(nonsending) func set(
    _ path: String, _ data: [String: Any], merge: Bool = false
  ) async throws {
    let document = db.document(path)
    try await commit(try merge ? document.mergeMutation(data) : document.setMutation(data))
  }

  /// Changes fields of an existing document.
  /// - Throws: `FirestoreError`; `notFound` if the document does not exist.
  public nonisolated(nonsending) func update(_ path: String, _ fields: [String: Any]) async throws {
    try await commit(try db.document(path).updateMutation(fields))
  }

  /// Deletes a document.
  /// - Throws: `FirestoreError` if the path is invalid.
  public nonisolated(nonsending) func delete(_ path: String) async throws {
    try await commit(try db.document(path).deleteMutation())
  }

  /// The server's current version of a document. A document that does not exist has no data.
  /// - Throws: `FirestoreError` if the path is invalid.
  public nonisolated(nonsending) func document(_ path: String) async throws -> any DocumentSnapshot {
    let key = try db.document(path).deleteMutation().key
    do throws(RPCStatus) {
      guard let document = try await server.lookup([key]).first else {
        throw RPCStatus(.internal, "The backend returned no result for \(path).")
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

  /// Closes the instance that creates the references.
  func close() async {
    // Terminating cannot fail, because no client was opened.
    try? await db.terminate()
  }
}
