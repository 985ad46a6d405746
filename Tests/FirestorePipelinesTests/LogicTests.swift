// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreTesting
import Testing

@Suite("Absent values, null and errors")
struct LogicTests {
  private static let (absent, null, failure) = (field("gone"), ExpressionMessage.constant(.null), call("error", "no"))

  /// `nil` for an error.
  private static func outcome(_ expression: ExpressionMessage) async throws -> Value? {
    if try await value(call("is_error", expression)) == true { return nil }
    return try await value(expression)
  }

  @Test(
    "and() prefers false, then an error, then null, then true",
    arguments: [
      ([true, true], true), ([false, failure], false), ([failure, false], false), ([null, false], false),
      ([absent, true], .null), ([null, true], .null), ([failure, null], nil), ([failure, true], nil),
    ] as [([ExpressionMessage], Value?)])
  func conjunction(_ arguments: [ExpressionMessage], _ expected: Value?) async throws {
    #expect(try await Self.outcome(.function("and", arguments)) == expected)
  }

  @Test(
    "or() prefers true, then an error, then null, then false; nor() negates it",
    arguments: [
      ([false, false], false), ([true, failure], true), ([failure, true], true), ([null, true], true),
      ([absent, false], .null), ([failure, null], nil),
    ] as [([ExpressionMessage], Value?)])
  func disjunction(_ arguments: [ExpressionMessage], _ expected: Value?) async throws {
    #expect(try await Self.outcome(.function("or", arguments)) == expected)
    let negated: Value? =
      switch expected {
      case .boolean(let truth)?: .boolean(!truth)
      default: expected
      }
    #expect(try await Self.outcome(.function("nor", arguments)) == negated)
  }

  @Test(
    "Other logical functions have their own rules for absent, null and errors",
    arguments: [
      (call("xor", true, true, true), true), (call("xor", true, null), .null), (call("not", true), false),
      (call("not", absent), .null), (call("conditional", true, 1, failure), 1),
      (call("conditional", null, failure, 2), 2),
      (call("exists", absent), false), (call("exists", null), true), (call("is_absent", absent), true),
      (call("if_absent", absent, 1), 1), (call("if_absent", null, 1), .null), (call("is_error", 1), false),
      (call("if_error", 1, failure), 1), (call("if_null", null, absent, 3), 3), (call("coalesce", absent, null), .null),
      (call("coalesce", 1, failure), 1), (call("switch_on", false, 1, true, 2, failure), 2),
      (call("switch_on", false, 1, 3), 3),
    ] as [(ExpressionMessage, Value?)])
  func forms(_ expression: ExpressionMessage, _ expected: Value?) async throws {
    #expect(try await Self.outcome(expression) == expected)
  }

  @Test("An absent value sets no field, and where() keeps only rows with a true condition")
  func stages() async throws {
    #expect(try await value(call("coalesce", Self.absent, Self.absent)) == nil)
    let titles = try await fields(
      stage("collection", .path("books")), stage("where", call("greater_than", field("year"), 1900)),
      stage("select", named([("title", field("title"))])))
    #expect(titles == [["title": "Dune"], ["title": "Ulysses"]])
    #expect(try await fields(stage("collection", .path("books")), stage("where", Self.failure)).isEmpty)
  }

  @Test("A switch without a matching case reports an error")
  func noCase() async throws {
    await #expect(
      throws: RPCStatus(
        .invalidArgument, "switch_on(): all switch cases evaluate to false, and no default provided.")
    ) { try await value(call("switch_on", false, 1)) }
  }
}
