// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import FirestoreProtocol
import FirestoreTesting
import Foundation
import Testing

@testable import DashboardHost
@testable import HearthCommand

@Suite struct DemoGroundTests {

  private func backend() throws -> LocalBackend {
    try LocalBackend(BackendConfiguration(location: .memory, now: { Timestamp(seconds: 1_700_000_000) }))
  }

  private func claim(_ backend: LocalBackend, _ folder: String?) async throws -> DemoGround.Claim {
    try await DemoGround(folder: folder, database: database).claim(
      at: InProcessDatastore(backend: backend, database: database))
  }

  @Test("The demo fills an empty database or reuses its own data, and keeps other data")
  func claims() async throws {
    let folder = try TemporaryFolder.made()
    let backend = try backend()
    #expect(try await claim(backend, folder.path) == .new)
    let documents: [(key: DocumentKey, fields: Fields)] = [(DocumentKey(unchecked: ResourcePath("a/b")), [:])]
    try await backend.seed(documents, in: database)
    #expect(try await claim(backend, folder.path) == .own)
    #expect(try await claim(backend, nil) == .foreign)
    let other = DatabaseID(project: "other")
    try await backend.seed(documents, in: other)
    let ground = DemoGround(folder: folder.path, database: other)
    #expect(try await ground.claim(at: InProcessDatastore(backend: backend, database: other)) == .foreign)
  }

  @Test("In a database with other data the demo writes nothing and reports this")
  func refuses() async throws {
    let backend = try backend()
    let key = DocumentKey(unchecked: ResourcePath("mine/1"))
    let documents: [(key: DocumentKey, fields: Fields)] = [(key, [:])]
    try await backend.seed(documents, in: database)
    let datastore = InProcessDatastore(backend: backend, database: database)
    let demo = DemoClient(
      datastore: datastore, ground: DemoGround(folder: nil, database: database), seed: 7, clock: ContinuousClock())
    await confirmation { told in
      await demo.run { text in
        told()
        #expect(text == DemoClient.refusal)
      }
    }
    #expect(try await datastore.listCollectionIDs(below: .root) == ["mine"])
  }
}
