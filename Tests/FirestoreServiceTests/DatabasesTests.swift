// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import ServiceTesting
import Testing

@testable import FirestoreService

@Suite("Listing databases")
struct DatabasesTests {
  private func names(_ service: FirestoreService, below parent: String) async throws -> [String] {
    let answer = try await service.answer(.listDatabases, WireWriter.message { $0.field(1, string: parent) })
    return try Message(answer).all(1).compactMap { $0.text(1) }
  }

  private func write(_ operation: Mutation.Operation, _ database: DatabaseID, _ service: FirestoreService) async throws
  {
    let mutation = Mutation(key: DocumentKey(unchecked: ResourcePath("c/a/d/b")), operation: operation)
    _ = try await service.backend.commit([mutation], in: database)
  }

  @Test("A database is listed while it has documents, by project or for all projects")
  func occupied() async throws {
    let service = try makeService()
    let databases = [("p", "(default)"), ("p", "other"), ("q", "(default)")].map {
      DatabaseID(project: $0, database: $1)
    }
    #expect(try await names(service, below: "projects/-") == [])
    for database in databases { try await write(.set([:]), database, service) }
    // Named, and never written to.
    _ = try await service.backend.collectionIDs(below: .root, in: DatabaseID(project: "p", database: "empty"))

    #expect(try await names(service, below: "projects/-") == databases.map(\.name))
    #expect(try await names(service, below: "projects/p") == databases.prefix(2).map(\.name))
    try await write(.delete, databases[1], service)
    #expect(try await names(service, below: "projects/p") == [databases[0].name])
    try await service.backend.deleteAllDocuments(in: databases[0])
    #expect(try await names(service, below: "projects/p") == [])

    let request = { (name: String) in WireWriter.message { $0.field(1, string: name) } }
    _ = try await service.answer(.getDatabase, request(databases[2].name))
    let error = await #expect(throws: RPCStatus.self) {
      _ = try await service.answer(.getDatabase, request(databases[0].name))
    }
    #expect(error?.code == .notFound)
    for name in ["", "projects", "projects/", "projects/p/databases"] {
      let error = await #expect(throws: RPCStatus.self) { _ = try await service.answer(.listDatabases, request(name)) }
      #expect(error?.code == .invalidArgument, "\(name)")
    }
  }
}
