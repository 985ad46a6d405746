// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import FirestoreQuery
import Foundation

/// The folder of the embedded backend while no hearth has it open.
struct BackendFolder {
  private static let database = DatabaseID(project: "hearth", database: "(default)")
  let path: String

  func seed(_ documents: some Sequence<(key: DocumentKey, fields: Fields)> & Sendable) async throws {
    try await open().seed(documents, in: Self.database)
  }

  func documents(in collection: String) async throws -> [Document] {
    let query = ServedQuery(Query(path: ResourcePath(collection)).target)
    return try await open().run(ReadRequest(query, in: Self.database)).documents
  }

  private func open() throws -> LocalBackend {
    try LocalBackend(BackendConfiguration(location: .directory(path), now: { Timestamp(seconds: 1_700_000_000) }))
  }
}

extension Surroundings {
  /// Puts documents with a name each into a collection before hearth starts.
  func seed(_ collection: String, _ names: [String: String]) async throws {
    try await BackendFolder(path: backend).seed(
      names.sorted { $0.key < $1.key }.map { id, name in
        (DocumentKey(unchecked: ResourcePath(collection).appending(id)), ["name": .string(name)] as Fields)
      })
  }
}
