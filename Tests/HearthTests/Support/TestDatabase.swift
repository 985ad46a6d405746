// SPDX-License-Identifier: Apache-2.0
import ClientTesting
import Foundation
import Hearth

/// An embedded in-memory backend, and clients of it with caches of their own.
struct TestDatabase {
  private let backend = Backend.inMemory(named: UUID().uuidString)
  /// The client under test.
  let db: Firestore
  /// Another user's client: what it writes comes to `db` from the backend.
  let other: Firestore

  init() {
    db = .firestore(app: FirestoreApp(name: "test", backend: backend))
    other = .firestore(app: FirestoreApp(name: "other", backend: backend))
  }
}

extension TestDatabase {
  /// Runs the test and ends both clients.
  static func run(
    _ test: nonisolated(nonsending) (TestDatabase) async throws -> Void
  ) async throws {
    let database = TestDatabase()
    do {
      try await test(database)
    } catch {
      try await database.terminate()
      throw error
    }
    try await database.terminate()
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
func code(of error: (any Error)?) -> FirestoreErrorCode? { (error as? FirestoreError)?.code }
