// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import Testing

@testable import FirestoreText

@Suite struct OrderTextTests {
  private static func up(_ name: String) -> OrderBy { OrderBy(FieldPath(name)) }
  private static func down(_ name: String) -> OrderBy { OrderBy(FieldPath(name), .descending) }

  @Test(
    "An order is a comma-separated list of fields with optional directions",
    arguments: [
      ("a.b", [OrderBy(FieldPath(segments: ["a", "b"]))]), ("a:desc", [down("a")]), ("-a", [down("a")]),
      (" a  DESC", [down("a")]), ("`a b` ascending", [up("a b")]), ("`a:b`:asc", [up("a:b")]),
      ("`a:desc`", [up("a:desc")]), ("`-a`", [up("-a")]), ("`a,b` desc", [down("a,b")]),
      ("a desc, b,-c", [down("a"), up("b"), down("c")]), ("a, ", [up("a")]),
    ])
  func reads(text: String, orders: [OrderBy]) throws {
    #expect(try OrderText.parse(text) == orders)
  }

  @Test(
    "An invalid order is rejected with its column and a suggestion",
    arguments: [
      ("", 1, "Expected a field"), (" , ", 1, "Expected a field"), ("a downwards", 3, "Expected asc or desc"),
      ("abc:down", 5, "is not a direction"), ("a, b dsc", 6, "Did you mean desc?"), ("-a desc", 1, "not both"),
      ("a, b|c", 5, "back-quotes"), ("-", 2, "empty"), ("`a", 1, "back-quote"),
    ])
  func refuses(text: String, column: Int, reason: String) {
    #expect { try OrderText.parse(text) } throws: { error in
      guard let error = error as? TextError else { return false }
      return error.column == column && error.reason.contains(reason)
    }
  }
}

@Suite struct DurationTextTests {
  @Test(
    "A duration has units, or is a number of seconds",
    arguments: [
      ("500ms", Duration.milliseconds(500)), ("5s", .seconds(5)), ("1.5m", .seconds(90)), ("2", .seconds(2)),
      ("30", .seconds(30)), ("0.5", .milliseconds(500)), ("1h30m", .seconds(5400)), ("1m1s1ms", .milliseconds(61_001)),
    ])
  func durations(text: String, duration: Duration) throws {
    #expect(try DurationText.parse(text) == duration)
  }

  @Test(
    "An invalid duration is rejected with its column",
    arguments: [
      ("", 1, "a number"), ("s", 1, "a number"), ("-1s", 1, "a number"), ("0", 1, "above zero"),
      ("5 s", 2, "Did you mean 5s?"), ("5x", 2, "not a unit"), ("1e3", 2, "not a unit"), ("1.2.3s", 1, "a number"),
      ("5min", 2, "Did you mean 5m?"), ("1h30", 5, "30 has no unit"), ("30m1h", 5, "hours before minutes"),
      ("5s5s", 4, "hours before minutes"), ("99999999h", 1, "too long"),
    ])
  func refuses(text: String, column: Int, reason: String) {
    #expect { try DurationText.parse(text) } throws: { error in
      guard let error = error as? TextError else { return false }
      return error.column == column && error.reason.contains(reason)
    }
  }

  @Test("The maximum duration is enforced, and zero is accepted where allowed")
  func bounds() throws {
    #expect(try DurationText.parse("0ms", longest: .seconds(60), allowsZero: true) == .zero)
    #expect { try DurationText.parse("2h", longest: .seconds(60)) } throws: {
      ($0 as? TextError)?.reason.contains("at most 1 min") == true
    }
  }
}
