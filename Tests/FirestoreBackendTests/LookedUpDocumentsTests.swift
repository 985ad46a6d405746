// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreTesting
import Testing

@testable import FirestoreBackend

/// What rules look at is kept in memory until it changes.
@Suite struct LookedUpDocumentsTests {
  /// A way to change documents: `c/a`, which exists before, and `c/b`, which does not.
  enum Change: String, CaseIterable {
    case set, patch, delete, create, group, each, transaction, subtree, everything, seed
  }

  private static func make(_ change: Change, _ backend: LocalBackend) async throws {
    switch change {
    case .set: try await backend.commit(set("c/a", ["v": 2]))
    case .patch: try await backend.commit(patch("c/a", ["w": 2], mask: ["w"]))
    case .delete: try await backend.commit(delete("c/a"))
    case .create: try await backend.commit(set("c/b", ["v": 2]))
    case .group:
      _ = await backend.commit([
        CommitOrder([set("c/b", ["v": 1])], in: database),
        CommitOrder([delete("c/a"), set("c/b", ["v": 2])], in: database),
      ])
    case .each: _ = try await backend.commitEach([delete("c/a")], in: database)
    case .transaction:
      let id = try await backend.beginTransaction(.readWrite(retrying: nil), in: database)
      _ = try await backend.commit([set("c/a", ["v": 3])], in: database, transaction: id.bytes)
    case .subtree: try await backend.deleteDocuments(below: ResourcePath("c"), in: database)
    case .everything: try await backend.deleteAllDocuments(in: database)
    case .seed:
      let documents: [(key: DocumentKey, fields: Fields)] = [(key("c/a"), ["v": 4]), (key("c/b"), ["v": 4])]
      try await backend.seed(documents, in: database)
    }
  }

  private static func lookedUp(_ backend: LocalBackend) async throws -> [Document?] {
    var documents: [Document?] = []
    for path in ["c/a", "c/b"] { documents.append(try await backend.lookedUp(key(path), in: database)) }
    return documents
  }

  @Test("A looked-up document is current after any change", arguments: Change.allCases)
  func fresh(after change: Change) async throws {
    let backend = try makeBackend()
    try await backend.commit(set("c/a", ["v": 1]))
    let before = try await Self.lookedUp(backend)
    #expect(before.map { $0?["v"] } == [1, nil])
    try await Self.make(change, backend)

    let after = try await Self.lookedUp(backend)
    #expect(after != before)
    for (path, document) in zip(["c/a", "c/b"], after) {
      let stored = try await backend.read(path)
      #expect(document == (stored.exists ? stored : nil) && document?.createTime == stored.createTime)
    }
  }

  @Test("A lookup is cached per database, even for a missing document")
  func kept() async throws {
    let backend = try makeBackend()
    let other = DatabaseID(project: "p", database: "other")
    try await backend.commit(set("c/a", ["v": 1]))
    _ = try await Self.lookedUp(backend)
    _ = try await backend.lookedUp(key("c/a"), in: other)
    let known = await backend.lookedUpDocuments
    #expect(known.document(key("c/a"), in: database)??["v"] == 1)
    #expect(known.document(key("c/b"), in: database) == .some(nil))
    #expect(known.document(key("c/a"), in: other) == .some(nil))
    #expect(known.document(key("c/c"), in: database) == nil)

    try await backend.commit(set("c/b", [:]))
    let left = await backend.lookedUpDocuments
    #expect(left.document(key("c/b"), in: database) == nil && left.document(key("c/a"), in: database)??["v"] == 1)
  }

  @Test("The lookup cache limits document size, total size and the number of databases")
  func bounded() {
    func document(_ path: String, _ bytes: Int) -> Document {
      Document(
        key: key(path), version: nil, state: .found(DocumentData(["v": .bytes(Array(repeating: 0, count: bytes))])))
    }
    var known = LookedUpDocuments()
    known.add(document("c/large", 1 << 20), key("c/large"), in: database)
    #expect(known.document(key("c/large"), in: database) == nil)
    for number in 0..<80 { known.add(document("c/d\(number)", 60 << 10), key("c/d\(number)"), in: database) }
    let kept = (0..<80).filter { known.document(key("c/d\($0)"), in: database) != nil }
    #expect(kept.count < 70 && kept.last == 79)
    for number in 0..<9 { known.add(nil, key("c/a"), in: DatabaseID(project: "p\(number)")) }
    #expect(known.document(key("c/d79"), in: database) == nil)
    #expect(known.document(key("c/a"), in: DatabaseID(project: "p8")) == .some(nil))
  }
}
