// SPDX-License-Identifier: Apache-2.0
import ClientTesting
import FirestoreBackend
import FirestoreGRPC
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreSync
import FirestoreTesting
import Foundation
import Testing

/// A cache that goes back in time, as a restored backup does, gives its next batches numbers that the backend has
/// answered already.
@Suite struct RestoredCacheTests {
  enum Route: CaseIterable { case inProcess, served }

  private let folder = TemporaryFolder()
  private var cache: String { folder("cache") }
  private var backup: String { folder("backup") }

  @Test(
    "Writes after restoring an old cache are applied, not mistaken for earlier writes", arguments: Route.allCases)
  func restored(_ route: Route) async throws {
    try folder.make()
    let backend = try LocalBackend.inMemory()
    switch route {
    case .inProcess: try await play(InProcessDatastore(backend: backend, database: database))
    case .served:
      try await Server.run(backend) { endpoint in
        let datastore = GRPCDatastore(endpoint, database: database, credentials: .emulatorOwner)
        try await play(datastore)
        await datastore.close()
      }
    }
    let documents = try await backend.lookup("abcdefgh".map { key(String($0)) }, in: database).documents
    #expect(documents.filter(\.exists).map(\.key.documentID) == ["a", "b", "c", "d", "e", "f", "g", "h"])
  }

  private func play(_ datastore: any Datastore) async throws {
    try await write(["a", "b"], datastore)
    try FileManager.default.copyItem(atPath: cache, toPath: backup)
    try await write(["c", "d", "e"], datastore)
    try FileManager.default.removeItem(atPath: cache)
    try FileManager.default.copyItem(atPath: backup, toPath: cache)
    try await write(["f", "g", "h"], datastore)
  }

  /// One run of a client, until everything is acknowledged.
  private func write(_ names: [String], _ datastore: any Datastore) async throws {
    let store = LocalStoreConfiguration(location: .directory(cache), policy: .never, database: database)
    let engine = SyncEngine(
      SyncConfiguration(store: store), datastore: datastore, clock: HastyClock(), now: { Timestamp(seconds: 1) },
      random: SystemRandomNumberGenerator())
    try await withThrowingTaskGroup { group in
      group.addTask { await engine.run() }
      for name in names {
        _ = engine.write([Mutation(key: key(name), operation: .set(["name": .string(name)]))])
      }
      try await engine.waitForPendingWrites()
      await engine.terminate()
      try await group.waitForAll()
    }
  }

  private func key(_ name: String) -> DocumentKey { DocumentKey(unchecked: ResourcePath("notes/\(name)")) }
}
