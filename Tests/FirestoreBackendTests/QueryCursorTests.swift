// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreTesting
import Testing

@testable import FirestoreBackend

@Suite("Chunked query results")
struct QueryCursorTests {
  private let clock = TestClock()

  private static func document(_ index: Int, size: Int) -> Mutation {
    let fields: Fields = [
      "n": .integer(Int64(index * 7 % 60)), "text": .string(String(repeating: "x", count: size)),
    ]
    return set("c/d\(100 + index)", fields)
  }

  /// 60 documents: of 20 kB, which are several pieces, or of 100 kB, which are too much to be sorted whole.
  private func filled(size: Int) async throws -> LocalBackend {
    let backend = try makeBackend(clock: clock)
    for index in 0..<60 { try await backend.commit(Self.document(index, size: size)) }
    return backend
  }

  private func rest(
    of cursor: QueryCursor?, _ backend: LocalBackend
  ) async throws(RPCStatus) -> (documents: [Document], skipped: Int, largest: Int) {
    var (documents, skipped, largest, next) = ([Document](), 0, 0, cursor)
    while let cursor = next {
      let (piece, rest) = try await backend.read(cursor)
      if rest != nil { #expect(!piece.documents.isEmpty) }
      documents += piece.documents
      skipped += piece.skipped
      largest = max(largest, piece.documents.dropLast().reduce(0) { $0 + $1.storedSize })
      next = rest
    }
    return (documents, skipped, largest)
  }

  /// What one step finds.
  private func expected(
    _ query: ServedQuery, _ backend: LocalBackend
  ) async throws(RPCStatus) -> (documents: [Document], skipped: Int) {
    var target = query.target
    target.limit = query.needed
    let documents = try await backend.runQuery(target, in: database)
    let skipped = min(query.offset, query.needed == 0 ? 0 : documents.count)
    return (Array(documents.dropFirst(skipped)), skipped)
  }

  private static let queries: [ServedQuery] = {
    let byNumber = [OrderBy(FieldPath("n"), .descending)]
    let few = FieldFilter(FieldPath("n"), .lessThan, .integer(20))
    var group = group("c")
    group.limit = 50
    return [
      ServedQuery(query("c")), ServedQuery(query("c"), offset: 3), ServedQuery(query("c", limit: 30), offset: 25),
      ServedQuery(query("c", limit: 0), offset: 5), ServedQuery(query("c"), offset: 70), ServedQuery(query("c", [few])),
      ServedQuery(query("c", limit: 13)), ServedQuery(query("c", limit: 60)),
      ServedQuery(query("c", orderBy: byNumber)), ServedQuery(query("c", orderBy: byNumber, limit: 40), offset: 7),
      ServedQuery(query("c", orderBy: [OrderBy(.documentID, .descending)], limit: 35)), ServedQuery(group),
      ServedQuery(query("none")),
    ]
  }()

  @Test(
    "The chunks of a result make up the whole result, and none exceeds the size limit",
    arguments: [100, 20_000, 100_000])
  func pieces(size: Int) async throws {
    let backend = try await filled(size: size)
    for query in Self.queries {
      let expected = try await expected(query, backend)
      let cursor = try await backend.open(ReadRequest(query, in: database))
      let found = try await rest(of: cursor, backend)
      #expect(found.documents == expected.documents, "\(query)")
      #expect(try await backend.run(ReadRequest(query, in: database)).documents == expected.documents, "\(query)")
      #expect(found.skipped == expected.skipped, "\(query)")
      #expect(found.largest <= QueryPiece.bytes, "\(query)")
    }
  }

  @Test(
    "Writes during a read do not affect its result",
    arguments: TestSize.isFull ? [20_000, 100_000] : [20_000])
  func consistency(size: Int) async throws {
    for query in Self.queries {
      let backend = try await filled(size: size)
      let expected = try await expected(query, backend).documents
      let (first, next) = try await backend.read(try await backend.open(ReadRequest(query, in: database)))
      for index in stride(from: 0, to: 60, by: 2) { try await backend.commit(delete("c/d\(100 + index)")) }
      for index in stride(from: 1, to: 60, by: 2) { try await backend.commit(set("c/d\(100 + index)", ["n": 0])) }
      try await backend.commit(set("c/d1005", ["n": 1]))

      let found = first.documents + (try await rest(of: next, backend).documents)
      #expect(found == expected, "\(query)")
    }
  }

  @Test("Sorting a large result stores only the sort fields in memory")
  func held() async throws {
    let backend = try await filled(size: 100_000)
    let query = ServedQuery(query("c", orderBy: [OrderBy(FieldPath("n"), .ascending)]))
    guard case .sorted(let documents, true, _) = try await backend.open(ReadRequest(query, in: database)).state else {
      Issue.record("whole documents are held")
      return
    }
    #expect(documents.count == 60 && documents.allSatisfy { $0.storedSize < 500 })
  }

  @Test("A read whose history is pruned ends with an error, never with mixed versions")
  func expiry() async throws {
    for (isTransaction, code) in [(false, StatusCode.unavailable), (true, .aborted)] {
      let backend = try LocalBackend(
        BackendConfiguration(location: .memory, keptHistoryBytes: 10_000, now: clock.now))
      for index in 0..<60 { try await backend.commit(Self.document(index, size: 20_000)) }
      var consistency = ReadConsistency.latest
      if isTransaction {
        consistency = .transaction(try await backend.beginTransaction(.readOnly(readTime: nil), in: database).bytes)
      }
      let cursor = try await backend.open(ReadRequest(ServedQuery(query("c")), consistency, in: database))
      let next = try await backend.read(cursor).rest
      for index in 0..<60 { try await backend.commit(set("c/d\(100 + index)", ["n": 0])) }

      let error = await #expect(throws: RPCStatus.self) { try await rest(of: next, backend) }
      #expect(error?.code == code)
    }
  }
}
