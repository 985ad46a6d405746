// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import FirestoreSQLite
import FirestoreTesting
import Foundation

@testable import FirestoreBackend

/// What everybody can see of a backend's database.
struct Contents: Hashable {
  var documents: [String: Fields]
  var count: Value?

  init(_ backend: LocalBackend) async throws {
    let found = try await backend.runQuery(query("c"), in: database) + backend.runQuery(group("sub"), in: database)
    documents = [:]
    for document in found {
      documents[document.path] = document.data?.fields
    }
    let counted = try await backend.aggregate(
      ReadRequest(ServedQuery(query("c")), in: database), [Aggregation(alias: "n", function: .count)]
    ).values
    count = counted["n"]
    // One by one, which goes by the index.
    for path in documents.keys.sorted() where try await !backend.read(path).exists {
      documents[path] = nil
    }
  }
}

extension TemporaryFolder {
  var file: String { path + "/backend.sqlite3" }

  /// Documents of several sizes in two collections, some replaced, some deleted; closed.
  func fill(_ count: Int = 300) async throws -> Contents {
    let backend = try makeBackend(.directory(path))
    for number in 0..<count {
      let text = String(repeating: "x\(number) ", count: number % 50 == 0 ? 3_000 : 20)
      try await backend.commit(
        set("c/d\(number)", ["n": .integer(Int64(number)), "text": .string(text)]),
        set("c/d\(number)/sub/s", ["n": .integer(Int64(-number))]))
    }
    for number in stride(from: 0, to: count, by: 3) { try await backend.commit(set("c/d\(number)", ["n": 0])) }
    for number in stride(from: 1, to: count, by: 5) { try await backend.commit(delete("c/d\(number)")) }
    return try await Contents(backend)
  }

  func edit(_ file: String, _ change: (inout Data) -> Void) throws {
    var bytes = try Data(contentsOf: URL(filePath: file))
    change(&bytes)
    try bytes.write(to: URL(filePath: file))
  }
}
