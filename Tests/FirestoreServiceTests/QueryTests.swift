// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import ServiceTesting
import Testing

@testable import FirestoreService

@Suite("Queries on the wire")
struct QueryTests {
  private func run(_ service: FirestoreService, _ query: (inout WireWriter) -> Void) async throws -> [Message] {
    try await service.messages(
      .runQuery,
      bytes { writer in
        writer.field(1, string: root)
        writer.query(2, "c", query)
      })
  }

  private func filter(_ writer: inout WireWriter, _ field: String, _ op: UInt64, _ value: Value) {
    writer.field(3) { writer in
      writer.field(2) { writer in
        writer.field(1) { $0.field(2, string: field) }
        writer.field(2, varint: op)
        writer.field(3) { $0.value(value) }
      }
    }
  }

  private func service() async throws -> FirestoreService {
    let service = try makeService()
    try await service.set("c/1", ["n": .integer(1)])
    try await service.set("c/2", ["n": .double(1)])
    try await service.set("c/3", ["n": .null])
    try await service.set("c/4", ["n": .double(.nan)])
    return service
  }

  @Test("A query sends one message per document and sets done in the last")
  func messages() async throws {
    let service = try await service()
    let all = try await run(service) { _ in }
    #expect(all.compactMap { $0[1]?.path } == ["c/1", "c/2", "c/3", "c/4"])
    #expect(all.map { $0.integer(6) } == [nil, nil, nil, 1])
    let none = try await run(service) { filter(&$0, "n", 5, .string("x")) }
    #expect(none.count == 1 && none[0][1] == nil && none[0].integer(6) == 1)
  }

  @Test("A chunked result has the skip count in its first message and done in its last")
  func pieces() async throws {
    let service = try makeService()
    for index in 0..<40 {
      try await service.set("c/\(10 + index)", ["t": .string(String(repeating: "x", count: 20_000))])
    }
    let all = try await run(service) { $0.field(6, integer: 3) }
    #expect(all.compactMap { $0[1]?.path } == (13..<50).map { "c/\($0)" })
    #expect(all.map { $0.integer(4) } == [3] + Array(repeating: nil, count: 36))
    #expect(all.map { $0.integer(6) } == Array(repeating: nil, count: 36) + [1])
  }

  @Test("NOT_IN with a filter that never matches finds nothing, and is rejected within OR")
  func notIn() async throws {
    let service = try await service()
    func composite(_ writer: inout WireWriter, _ op: UInt64, _ filters: [(op: UInt64, value: Value)]) {
      writer.field(3) { writer in
        writer.field(1) { writer in
          writer.field(1, varint: op)
          for filter in filters {
            writer.field(2) { writer in
              writer.field(2) { writer in
                writer.field(1) { $0.field(2, string: "n") }
                writer.field(2, varint: filter.op)
                writer.field(3) { $0.value(filter.value) }
              }
            }
          }
        }
      }
    }
    let excluded: (UInt64, Value) = (10, .array([.integer(7)]))
    for impossible in [(5, .null), (3, .null), (3, .double(.nan))] as [(UInt64, Value)] {
      let result = try await run(service) { composite(&$0, 1, [excluded, impossible]) }
      #expect(result.count == 1 && result[0][1] == nil)
    }
    let refusal = await #expect(throws: RPCStatus.self) { try await run(service) { composite(&$0, 2, [excluded]) } }
    #expect(refusal?.message == "'NOT_IN' cannot be used in the same query with 'IN', 'ARRAY_CONTAINS_ANY' or 'OR'.")
  }

  @Test("With other inequalities, a __name__ equality also needs a __name__ inequality")
  func nameBesideInequalities() async throws {
    let service = try await service()
    func name(_ id: String) -> Value {
      .reference(DatabaseID(project: "p"), DocumentKey(unchecked: ResourcePath("c/\(id)")))
    }
    typealias Condition = (field: String, op: UInt64, value: Value)
    func paths(_ filters: [Condition]) async throws -> [String?] {
      let found = try await run(service) { writer in
        writer.field(3) { writer in
          writer.field(1) { writer in
            writer.field(1, varint: 1)
            for filter in filters {
              writer.field(2) { writer in
                writer.field(2) { writer in
                  writer.field(1) { $0.field(2, string: filter.field) }
                  writer.field(2, varint: filter.op)
                  writer.field(3) { $0.value(filter.value) }
                }
              }
            }
          }
        }
      }
      return found.compactMap { $0[1]?.path }
    }
    let isFirst: Condition = ("__name__", 5, name("1"))
    for inequality in [("n", 6, .integer(42)), ("n", 3, .integer(0)), ("n", 10, .array([.integer(7)]))] as [Condition] {
      let status = await #expect(throws: RPCStatus.self) { _ = try await paths([inequality, isFirst]) }
      #expect(
        status
          == RPCStatus(
            .invalidArgument,
            "Equality on key is not allowed if there are other inequality fields and key does not appear in inequalities."
          ))
      #expect(try await paths([inequality, isFirst, ("__name__", 4, name("1"))]) == ["c/1"])
    }
    #expect(try await paths([("n", 5, .integer(1)), isFirst]) == ["c/1"])
    #expect(try await paths([isFirst, ("__name__", 4, name("1"))]) == ["c/1"])
  }

  @Test("A query with 100 filters runs, and a larger query is rejected")
  func parts() async throws {
    let service = try await service()
    func run(_ count: Int) async throws -> [Message] {
      try await self.run(service) { writer in
        writer.field(3) { writer in
          writer.field(1) { writer in
            writer.field(1, varint: 1)
            for number in 0..<count {
              writer.field(2) { writer in
                writer.field(2) { writer in
                  writer.field(1) { $0.field(2, string: "f\(number)") }
                  writer.field(2, varint: 5)
                  writer.field(3) { $0.value(.integer(1)) }
                }
              }
            }
          }
        }
      }
    }
    #expect(try await run(100).count == 1)
    let refusal = await #expect(throws: RPCStatus.self) { try await run(20_000) }
    #expect(refusal?.code == .invalidArgument && refusal?.message.contains("at most 100") == true)
  }

  @Test("An explanation has the index that Cloud Firestore would use and the scan counts")
  func index() async throws {
    let service = try await service()
    let messages = try await service.messages(
      .runQuery,
      bytes { writer in
        writer.field(1, string: root)
        writer.query(2, "c") { writer in
          filter(&writer, "n", 5, .integer(1))
          writer.field(4) { writer in
            writer.field(1) { $0.field(2, string: "m") }
            writer.field(2, varint: 2)
          }
        }
        writer.field(10) { $0.field(1, boolean: true) }
      })
    let metrics = try #require(messages.last?[11])
    let plan = (metrics[1]?[1]?.all(1) ?? []).map { $0[2]?.text(3) }
    #expect(plan == ["Collection", "(n ASC, m DESC, __name__ DESC)"])
    let names = (metrics[2]?[5]?.all(1) ?? []).map { $0.text(1) }
    #expect(names == ["documents_scanned", "index_entries_scanned", "billing_details"])
  }

  @Test("An explanation is sent without running the query, or after its results", arguments: [false, true])
  func explanation(isRun: Bool) async throws {
    let service = try await service()
    let messages = try await service.messages(
      .runQuery,
      bytes { writer in
        writer.field(1, string: root)
        writer.query(2, "c")
        writer.field(10) { $0.field(1, boolean: isRun) }
      })
    #expect(messages.compactMap { $0[1]?.path }.count == (isRun ? 4 : 0))
    // The Node SDK reads nothing after the message that says done, and counts the messages.
    if isRun { #expect(messages.map { $0.integer(6) } == [nil, nil, nil, 1]) }
    let metrics = try #require(messages.last?[11])
    let plan = (metrics[1]?[1]?.all(1) ?? []).map { entry in (entry.text(1), entry[2]?.text(3)) }
    #expect(plan.map(\.0) == ["query_scope", "properties"] && plan.map(\.1) == ["Collection", "(__name__ ASC)"])
    #expect(metrics[2]?.integer(1) == (isRun ? 4 : nil) && metrics[2]?.integer(4) == (isRun ? 4 : nil))
    #expect(metrics.has(2) == isRun)
  }

  @Test("A collection group below a document can be paged only by name")
  func groupBelowDocument() async throws {
    let service = try makeService()
    for id in ["a", "b", "c"] { try await service.set("root/r/children/\(id)", ["n": .integer(1)]) }
    try await service.set("root/s/children/d", ["n": .integer(1)])
    func run(_ more: (inout WireWriter) -> Void) async throws -> [String] {
      let query = bytes { writer in
        writer.field(1, string: root + "/root/r")
        writer.field(2) { query in
          query.field(2) { selector in
            selector.field(2, string: "children")
            selector.field(3, boolean: true)
          }
          more(&query)
        }
      }
      return try await service.messages(.runQuery, query).compactMap { $0[1]?.path }
    }
    func order(_ writer: inout WireWriter, _ field: String, _ direction: UInt64 = 1) {
      writer.field(4) { order in
        order.field(1) { $0.field(2, string: field) }
        order.field(2, varint: direction)
      }
    }
    let b = Value.reference(DatabaseID(project: "p"), try #require(DocumentKey("root/r/children/b")))
    let fromB = ["root/r/children/b", "root/r/children/c"]

    #expect(try await run { order(&$0, "__name__") } == ["root/r/children/a"] + fromB)
    #expect(try await run { filter(&$0, "__name__", 4, b) } == fromB)
    let paged = try await run { writer in
      order(&writer, "__name__")
      writer.field(7) { cursor in
        cursor.field(1) { $0.value(b) }
        cursor.field(2, boolean: true)
      }
    }
    #expect(paged == fromB)
    let field = await #expect(throws: RPCStatus.self) { try await run { order(&$0, "n") } }
    #expect(field?.code == .invalidArgument)
    let filtered = await #expect(throws: RPCStatus.self) { try await run { filter(&$0, "n", 5, .integer(1)) } }
    #expect(filtered?.code == .invalidArgument)
    let descending = await #expect(throws: RPCStatus.self) { try await run { order(&$0, "__name__", 2) } }
    #expect(descending?.code == .failedPrecondition)
    #expect(descending?.message.hasPrefix("The query requires an index.") == true)
  }

  @Test(
    "A sum is rejected if its index would place the field after the document name",
    arguments: [
      ("", "c", false, [], nil, nil), ("", "c", false, ["__name__"], nil, "value"),
      ("", "c", false, ["value", "__name__"], nil, nil), ("", "c", false, ["o", "__name__"], nil, "value"),
      ("", "c", false, [], "__name__", "value"), ("", "c", false, ["value"], "__name__", nil),
      ("", "c", true, [], nil, nil),
      ("/c/d", "c", true, [], nil, "value"), ("/c/d", nil, true, [], nil, "value"), ("/c/d", nil, false, [], nil, nil),
      ("/c/d", "c", false, [], nil, nil), ("", nil, true, [], nil, nil),
    ] as [(String, String?, Bool, [String], String?, String?)])
  func sumAfterName(
    parent: String, collection: String?, isDeep: Bool, orders: [String], filtered: String?, rejected: String?
  ) async throws {
    let service = try makeService()
    let name = Value.reference(DatabaseID(project: "p"), try #require(DocumentKey("c/d")))
    let request = bytes { writer in
      writer.field(1, string: root + parent)
      writer.field(2) { aggregation in
        aggregation.field(1) { query in
          query.field(2) { selector in
            if let collection { selector.field(2, string: collection) }
            selector.field(3, boolean: isDeep)
          }
          if let filtered { filter(&query, filtered, 3, name) }
          for order in orders { query.field(4) { $0.field(1) { $0.field(2, string: order) } } }
        }
        aggregation.field(3) { $0.field(2) { $0.field(1) { $0.field(2, string: "value") } } }
      }
    }
    do {
      _ = try await service.messages(.runAggregationQuery, request)
      #expect(rejected == nil)
    } catch let error as RPCStatus {
      #expect(error.code == .invalidArgument)
      #expect(rejected.map { error.message.contains("an index with fields [\($0)] after __name__") } == true)
    }
  }

  @Test(
    "A sum of a query that selects fields is rejected, but a count is not",
    arguments: [
      (["__name__"], "that only returns keys."), (["o"], "The aggregation property value is not present"),
      (["value", "o"], "Cannot apply property masks"),
    ])
  func sumOfSelection(selected: [String], message: String) async throws {
    let service = try makeService()
    func request(_ aggregation: (inout WireWriter) -> Void) -> [UInt8] {
      bytes { writer in
        writer.field(1, string: root)
        writer.field(2) { writer in
          writer.query(1, "c") { query in
            query.field(1) { for name in selected { $0.field(2) { $0.field(2, string: name) } } }
          }
          writer.field(3) { aggregation(&$0) }
        }
      }
    }
    let error = await #expect(throws: RPCStatus.self) {
      _ = try await service.messages(
        .runAggregationQuery, request { $0.field(2) { $0.field(1) { $0.field(2, string: "value") } } })
    }
    #expect(error?.code == .invalidArgument && error?.message.contains(message) == true)
    #expect(try await service.messages(.runAggregationQuery, request { $0.field(1) { _ in } }).count == 1)
  }

  @Test("A page of large documents ends early, and the next page continues from there")
  func largePages() async throws {
    let service = try makeService()
    let text = Value.string(String(repeating: "x", count: 900_000))
    for number in 1...9 { try await service.set("c/\(number)", ["t": text]) }
    var (paths, token, pages) = ([String](), "", 0)
    repeat {
      let request = bytes { [token] writer in
        writer.field(1, string: root)
        writer.field(2, string: "c")
        writer.field(4, string: token)
      }
      let page = try #require(try await service.messages(.listDocuments, request).first)
      #expect(page.all(1).count <= 6)
      paths += page.all(1).compactMap(\.path)
      token = page.text(2) ?? ""
      pages += 1
    } while !token.isEmpty && pages < 9
    #expect(paths == (1...9).map { "c/\($0)" } && pages == 2)
  }

  @Test("Offset, limit and projection apply in this order")
  func offsetAndLimit() async throws {
    let found = try await run(service()) { writer in
      writer.field(6, varint: 1)
      writer.field(5) { $0.field(1, varint: 2) }
      writer.field(1) { $0.field(2) { $0.field(2, string: "__name__") } }
    }
    #expect(found.compactMap { $0[1]?.path } == ["c/2", "c/3"])
    #expect(found.allSatisfy { $0[1]?.fields.isEmpty == true })
    #expect(found[0].integer(4) == 1)
  }

  @Test(
    "Numbers compare by value, and null and NaN match only in unary filters",
    arguments: [
      (5, Value.integer(1), ["c/1", "c/2"]), (5, .null, []), (5, .double(.nan), []), (4, .null, []), (6, .null, []),
      (6, .double(.nan), ["c/4", "c/1", "c/2"]), (8, .array([.integer(1), .null, .double(.nan)]), ["c/1", "c/2"]),
    ] as [(UInt64, Value, [String])])
  func matching(op: UInt64, value: Value, expected: [String]) async throws {
    let found = try await run(service()) { filter(&$0, "n", op, value) }
    #expect(found.compactMap { $0[1]?.path } == expected)
  }

  @Test(
    "Unsupported queries are rejected with the service's message",
    arguments: [
      (8, Value.array([]), "'IN' requires an non-empty ArrayValue."),
      (8, .integer(1), "'IN' requires an ArrayValue."),
      (10, .array((0..<11).map { .integer($0) }), "'NOT_IN' supports up to 10 comparison values."),
      (5, .string(String(repeating: "x", count: 1501)), "value for n is too large to be used in a query"),
      (0, .integer(1), "Unknown FieldFilter operator."),
    ] as [(UInt64, Value, String)])
  func refused(op: UInt64, value: Value, message: String) async throws {
    let service = try await service()
    await #expect(throws: RPCStatus(.invalidArgument, message)) {
      _ = try await run(service) { filter(&$0, "n", op, value) }
    }
  }

  @Test("Unnamed aggregates are numbered and skip documents without the summed field")
  func aggregation() async throws {
    let service = try await service()
    try await service.set("c/5", ["other": .integer(1)])
    let answer = try await service.messages(
      .runAggregationQuery,
      bytes { writer in
        writer.field(1, string: root)
        writer.field(2) { writer in
          writer.query(1, "c") { filter(&$0, "n", 5, .integer(1)) }
          writer.field(3) { $0.field(1) { _ in } }
          writer.field(3) { $0.field(2) { $0.field(1) { $0.field(2, string: "n") } } }
          writer.field(3) { writer in
            writer.field(1) { $0.field(1) { $0.field(1, varint: 1) } }
            writer.field(7, string: "capped")
          }
        }
      })
    let values = answer[0][1]?.fields
    #expect(values?["field_1"] == .integer(2))
    #expect(values?["field_2"] == .double(2))
    #expect(values?["capped"] == .integer(1))
  }
}
