// SPDX-License-Identifier: Apache-2.0
import ClientTesting
import FirestoreTesting
import Foundation
import Hearth

/// An embedded in-memory backend, and clients of it with caches of their own.
struct TestDatabase {
  private let backend = Backend.inMemory(named: UUID().uuidString).patient
  /// The client under test.
  let db: Firestore
  /// Another user's client: what it writes comes to `db` from the backend.
  let other: Firestore

  /// - Parameter cache: where `db` keeps its cache; `nil` for one in memory.
  init(cache: String? = nil) {
    db = .firestore(app: FirestoreApp(name: "test", backend: backend, cacheDirectory: cache))
    other = .firestore(app: FirestoreApp(name: "other", backend: backend))
  }
}

extension TestDatabase {
  /// As `run`, with a durable cache.
  static func runDurably(
    _ test: nonisolated(nonsending) (TestDatabase) async throws -> Void
  ) async throws {
    let folder = TemporaryFolder()
    try await TestDatabase(cache: folder.path).run(test)
  }

  /// Runs the test and ends both clients.
  static func run(
    _ test: nonisolated(nonsending) (TestDatabase) async throws -> Void
  ) async throws {
    try await TestDatabase().run(test)
  }

  private func run(
    _ test: nonisolated(nonsending) (TestDatabase) async throws -> Void
  ) async throws {
    do {
      try await test(self)
    } catch {
      try await terminate()
      throw error
    }
    try await terminate()
  }

  private func terminate() async throws {
    try await db.terminate()
    try await other.terminate()
  }
}

/// What a document listener was called with.
struct DocumentEvent: Sendable {
  var snapshot: (any DocumentSnapshot)?
  var error: (any Error)?

  var hasOneArgument: Bool { (snapshot == nil) != (error == nil) }
  var name: String? { snapshot?.get("name") as? String }
  var isPending: Bool? { snapshot?.metadata.hasPendingWrites }
  var isFromCache: Bool? { snapshot?.metadata.isFromCache }
}

/// What a query listener was called with.
struct QueryEvent: Sendable {
  var snapshot: QuerySnapshot?
  var error: (any Error)?

  var hasOneArgument: Bool { (snapshot == nil) != (error == nil) }
  var ids: [String] { snapshot?.documents.map(\.documentID) ?? [] }
  var isPending: Bool? { snapshot?.metadata.hasPendingWrites }
  var isFromCache: Bool? { snapshot?.metadata.isFromCache }
}

extension Events where Element == DocumentEvent {
  var listener: @Sendable ((any DocumentSnapshot)?, (any Error)?) -> Void {
    { self.send(DocumentEvent(snapshot: $0, error: $1)) }
  }
}

extension Events where Element == QueryEvent {
  var listener: @Sendable (QuerySnapshot?, (any Error)?) -> Void {
    { self.send(QueryEvent(snapshot: $0, error: $1)) }
  }
}

/// The code of an error that is Firestore's.
func code(of error: (any Error)?) -> FirestoreErrorCode.Code? { (error as? FirestoreError)?.code }
