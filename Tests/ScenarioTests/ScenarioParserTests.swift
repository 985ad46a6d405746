// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import Testing

@testable import CommandOutput
@testable import Scenarios

@Suite struct ScenarioParserTests {
  private let parser = ScenarioParser(database: database)

  @Test("A scenario has one step per line, and comments and empty lines are skipped")
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
    guard case .client(.request(.request(.setNetwork(enabled: false)))) = steps[0].action,
      case .client(.request(.request(.setNetwork(enabled: true)))) = steps[3].action
    else {
      Issue.record("not offline and online")
      return
    }
    guard case .client(.request(.request(.write(let mutations)))) = steps[1].action else {
      Issue.record("not a write")
      return
    }
    let set = Mutation(key: DocumentKey(unchecked: ResourcePath("cities/SF")), operation: .set(["a": .integer(1)]))
    #expect(mutations == [set])
    guard case .client(.expect(let pattern, .seconds(2))) = steps[2].action else {
      Issue.record("not an expectation")
      return
    }
    #expect(pattern == EventPattern(.added, path: ResourcePath("cities/SF")))
    guard case .client(.expect(let any, ScenarioStep.patience)) = steps[4].action else {
      Issue.record("not an expectation")
      return
    }
    #expect(any.matches(ObservedEvent(.acknowledged, [ResourcePath("a/b")])))
    #expect(!any.matches(ObservedEvent(.rejected, [ResourcePath("a/b")])))
    guard case .client(.expectNothing(nil, .milliseconds(50))) = steps[5].action else {
      Issue.record("not an expectation of nothing")
      return
    }
  }

  @Test("listen takes a query's conditions, orders and limit, and quoted words as values")
  func listen() throws {
    let steps = try parser.steps(
      "listen cities where state == 'no limit here' where n > 3 order n:desc limit 5", of: "file")
    guard case .client(.listen(let query, nil, _)) = steps[0].action else {
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
    "An invalid line of a scenario is reported with its number",
    arguments: [
      "wait", "wait for rain", "offline now", "listen", "listen cities//x", "listen cities limit x",
      "listen cities limit 0",
      "listen cities limit 9223372036854775807", "listen cities limit 2147483648", "listen cities where a =! b",
      "update cities/SF x=True",
      "listen cities by name", "set cities/SF", "set cities {}", "update cities/SF", "update cities/SF x",
      "delete cities",
      "expect", "expect snow", "expect added cities", "expect added a/b c/d", "expect added within",
      "expect added within x",
      "expect synced a/b", "expect nothing a/b", "expect pending", "expect pending -1", "expect results x",
      "expect added a/b with not-found", "expect rejected with nothing", "expect document", "expect document a",
      "expect no document a/b where x == 1", "client server", "client a b", "user", "fault sing", "repeat 2", "kill x",
      "bob: offline", "server: offline", "commit", "batch", "stop nobody", "expect added on nobody",
    ])
  func refuses(line: String) {
    #expect { try parser.steps("offline\n\(line)\n", of: "file") } throws: { error in
      (error as? CommandFailure).map { $0.status == .badData && $0.message.hasPrefix("file, line 2") } ?? false
    }
  }

  @Test("An error in a scenario has its column, and an excerpt points to it")
  func column() throws {
    let failure = try #require(throws: CommandFailure.self) {
      try parser.steps("  listen  cities where a == 'x' oder b == 2", of: "file")
    }
    #expect(failure.message.hasPrefix("file, line 1, column 31: "), "\(failure.message)")
    #expect(failure.excerpt.last == String(repeating: " ", count: 30) + "^")
    let update = try #require(throws: CommandFailure.self) { try parser.steps("update c/d a=1 b=nil", of: "file") }
    #expect(update.message.hasPrefix("file, line 1, column 18: Did you mean null?"), "\(update.message)")
  }

  @Test("An update's value may contain spaces within quotes and brackets")
  func assignments() throws {
    let steps = try parser.steps(
      "update c/d a='x y' b=[p, 2] c={\"m\": \"x y\"} d=it's `e f`=\"g h\"", of: "file")
    guard case .client(.request(.request(.write(let mutations)))) = steps[0].action,
      case .patch(let fields, _) = mutations.first?.operation
    else {
      Issue.record("not an update")
      return
    }
    #expect(fields == ["a": "x y", "b": ["p", 2], "c": .map(["m": "x y"]), "d": "it's", "e f": "g h"])
  }

  @Test("A listener's options can follow its query in any order")
  func listenerOptions() throws {
    let steps = try parser.steps("listen cities where a == 1 with metadata from cache as rows", of: "file")
    guard case .client(.listen(let query, "rows", let options)) = steps[0].action else {
      Issue.record("not a listener")
      return
    }
    #expect(query.filters.count == 1 && options.includeMetadataChanges && options.source == .cache)
  }

  @Test("A loop repeats its steps, and loops can be nested")
  func loops() throws {
    let steps = try parser.steps("repeat 3\nset a/b {}\nrepeat 2\ndelete a/b\nend\nend\noffline", of: "file")
    #expect(steps.count == 3 * 3 + 1 && steps[2].line == 4)
    let huge = try #require(throws: CommandFailure.self) {
      try parser.steps("repeat 1000\nrepeat 1000\nset a/b {}\nend\nend", of: "file")
    }
    #expect(huge.message.hasPrefix("file, line 1, column 8: "), "\(huge.message)")
  }

  @Test("Too many steps or clients are rejected at the first one over the limit")
  func largest() throws {
    func message(_ lines: [String]) -> String? {
      #expect(throws: CommandFailure.self) { try parser.steps(lines.joined(separator: "\n"), of: "file") }?.message
    }
    let steps = message(Array(repeating: "set a/b {}", count: 10_001))
    #expect(steps == "file, line 10001: A scenario can have at most 10000 steps. Split it.")
    let clients = message((0...100).map { "client c\($0)" })
    #expect(clients == "file, line 101: A scenario can have at most 100 clients.")
  }

  @Test("In a scenario with named clients each step names its client")
  func owners() throws {
    let steps = try parser.steps("client ada user u1\nada: set a/b {}\nserver: delete a/b\nexpect same", of: "file")
    #expect(steps.map(\.client) == ["ada", "ada", "server", nil])
    let open = try #require(throws: CommandFailure.self) { try parser.steps("client ada\noffline", of: "file") }
    #expect(open.message == "file, line 2: This step needs a client. Write ada: before it.")
  }

  @Test("The first comment is the summary, and a seed precedes the steps")
  func head() throws {
    let scenario = try parser.scenario("# Shows it.\n# More.\nseed 42\noffline\n", of: "file")
    #expect(scenario.summary == "Shows it." && scenario.seed == 42 && scenario.steps.count == 1)
  }

  @Test("A mistyped step gets a suggestion")
  func nearest() throws {
    let failure = try #require(throws: CommandFailure.self) { try parser.steps("ofline", of: "file") }
    #expect(failure.message.contains("Did you mean offline?"), "\(failure.message)")
  }
}
