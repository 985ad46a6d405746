// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import Testing

@testable import CommandOutput
@testable import DashboardHost
@testable import HearthCommand

@Suite struct ScenarioParserTests {
  private let parser = ScenarioParser(database: database)

  @Test("A scenario is one step per line; comments and empty lines are passed over")
  func steps() throws {
    let text = """
      # first offline

        offline
      set cities/SF {"a": 1}
      expect added cities/SF within 2s
      online
      expect acknowledged
      expect nothing within 50ms
      """
    let steps = try parser.steps(text, of: "file")
    #expect(steps.map(\.line) == [3, 4, 5, 6, 7, 8])
    #expect(steps[1].text == "set cities/SF {\"a\": 1}")
    guard case .goOffline = steps[0].action, case .goOnline = steps[3].action else {
      Issue.record("not offline and online")
      return
    }
    guard case .write(let mutation) = steps[1].action else {
      Issue.record("not a write")
      return
    }
    #expect(
      mutation == Mutation(key: DocumentKey(unchecked: ResourcePath("cities/SF")), operation: .set(["a": .integer(1)])))
    guard case .expect(let pattern, .seconds(2)) = steps[2].action else {
      Issue.record("not an expectation")
      return
    }
    #expect(pattern == ScenarioEvent.Pattern(kind: .added, path: ResourcePath("cities/SF")))
    guard case .expect(let any, ScenarioStep.patience) = steps[4].action else {
      Issue.record("not an expectation")
      return
    }
    #expect(any.matches(ScenarioEvent(kind: .acknowledged, path: ResourcePath("a/b"))))
    #expect(!any.matches(ScenarioEvent(kind: .rejected, path: ResourcePath("a/b"))))
    guard case .expectNothing(.milliseconds(50)) = steps[5].action else {
      Issue.record("not an expectation of nothing")
      return
    }
  }

  @Test("A listener has the conditions, orders and limit of a query; quoted words are no clauses")
  func listen() throws {
    let steps = try parser.steps(
      "listen cities where state == 'no limit here' where n > 3 order n:desc limit 5", of: "file")
    guard case .listen(let query) = steps[0].action else {
      Issue.record("not a listener")
      return
    }
    #expect(
      query
        == Query(
          path: ResourcePath("cities"),
          filters: [
            .field(FieldFilter(FieldPath("state"), .equal, .string("no limit here"))),
            .field(FieldFilter(FieldPath("n"), .greaterThan, .integer(3))),
          ],
          explicitOrderBy: [OrderBy(FieldPath("n"), .descending)], limit: 5))
  }

  @Test(
    "A line that is no step is named with its number",
    arguments: [
      "wait 5s", "offline now", "listen", "listen cities//x", "listen cities limit x", "listen cities limit 0",
      "listen cities limit 9223372036854775807", "listen cities limit 2147483648", "listen cities where a =! b",
      "update cities/SF x=True",
      "listen cities by name", "set cities/SF", "set cities {}", "update cities/SF", "update cities/SF x",
      "delete cities",
      "expect", "expect snow", "expect added cities", "expect added a/b c/d", "expect added within",
      "expect added within x",
      "expect synced a/b", "expect nothing a/b",
    ])
  func refuses(line: String) {
    #expect { try parser.steps("offline\n\(line)\n", of: "file") } throws: { error in
      (error as? CommandFailure).map { $0.status == .badData && $0.message.hasPrefix("file, line 2") } ?? false
    }
  }

  @Test("An error in a line names its column, and the excerpt points to it")
  func column() throws {
    let failure = try #require(throws: CommandFailure.self) {
      try parser.steps("  listen  cities where a == 'x' oder b == 2", of: "file")
    }
    #expect(failure.message.hasPrefix("file, line 1, column 31: "), "\(failure.message)")
    #expect(failure.excerpt.last == String(repeating: " ", count: 30) + "^")
    let update = try #require(throws: CommandFailure.self) { try parser.steps("update c/d a=1 b=nil", of: "file") }
    #expect(update.message.hasPrefix("file, line 1, column 18: Is null meant?"), "\(update.message)")
  }

  @Test("Words that quotes or brackets hold together are one value of an update")
  func assignments() throws {
    let steps = try parser.steps(
      "update c/d a='x y' b=[p, 2] c={\"m\": \"x y\"} d=it's `e f`=\"g h\"", of: "file")
    guard case .write(let mutation) = steps[0].action, case .patch(let fields, _) = mutation.operation else {
      Issue.record("not an update")
      return
    }
    #expect(fields == ["a": "x y", "b": ["p", 2], "c": .map(["m": "x y"]), "d": "it's", "e f": "g h"])
  }

  @Test("Events wait in order; an error comes after them")
  func events() async throws {
    let events = ScenarioEvents()
    events.put(ScenarioEvent(kind: .synced))
    events.fail(CommandFailure(.failure, "x"))
    #expect(try await events.next() == ScenarioEvent(kind: .synced))
    await #expect(throws: CommandFailure(.failure, "x")) { try await events.next() }
  }
}
