// SPDX-License-Identifier: Apache-2.0
import ClientPort
package import CommandOutput
import CommandTransfer
import FirestoreClientState
import FirestoreJSON
package import FirestoreModel
import FirestoreQuery
import FirestoreText

/// Parses a scenario. Each line is a step. Lines that begin with `#` are comments. The prefix `NAME:` selects the
/// client.
///
/// # Two clients change a counter while one of them is offline. client ada client bob ada: listen counters as hers bob:
/// offline bob: update counters/a n={"$increment": 1} ada: expect nothing within 5s bob: online ada: expect modified
/// counters/a on hers expect same
package struct ScenarioParser {
  /// The maximum numbers of steps and of clients, so that a scenario takes at most a minute or two. Each repetition of
  /// a step counts.
  private static let (mostSteps, mostClients) = (10_000, 100)

  let database: DatabaseID

  package init(database: DatabaseID) { self.database = database }

  /// - Throws: `CommandFailure` with the line number and the reason.
  package func scenario(_ text: String, of name: String) throws(CommandFailure) -> Scenario {
    let (summary, read) = try ScenarioLine.read(text, of: name)
    var scenario = Scenario(name: name, summary: summary, seed: 1, steps: [])
    var lines = read
    if let first = lines.first, first.text.hasPrefix("seed ") {
      guard let seed = UInt64(first.text.dropFirst(5).trimming()) else {
        throw CommandFailure(.badData, "\(name), line \(first.number), column 6: Expected a whole number.")
      }
      scenario.seed = seed
      lines.removeFirst()
    }
    scenario.steps = try steps(lines[...], of: name)
    try check(scenario.steps, of: name)
    return scenario
  }

  /// The steps of a text. The names of clients are not checked.
  package func steps(_ text: String, of name: String) throws(CommandFailure) -> [ScenarioStep] {
    try scenario(text, of: name).steps
  }

  private func steps(_ lines: ArraySlice<ScenarioLine>, of name: String) throws(CommandFailure) -> [ScenarioStep] {
    var steps: [ScenarioStep] = []
    var index = lines.startIndex
    while index < lines.endIndex {
      let line = lines[index]
      index += 1
      guard line.text == "repeat" || line.text.hasPrefix("repeat ") else {
        steps.append(try step(line, of: name))
        continue
      }
      let end = try endOfLoop(in: lines, from: index, line, name)
      steps += try loop(line, lines[index..<end], after: steps.count, of: name)
      index = end + 1
    }
    return steps
  }

  /// The steps of `repeat N [as NAME]`. Each iteration replaces `$NAME` with its number.
  private func loop(
    _ line: ScenarioLine, _ body: ArraySlice<ScenarioLine>, after count: Int, of name: String
  ) throws(CommandFailure) -> [ScenarioStep] {
    let words = line.text.split(whereSeparator: \.isWhitespace).dropFirst().map(String.init)
    let variable = words.count == 3 && words[1] == "as" ? words[2] : nil
    guard let turns = words.first.flatMap({ Int($0) }), words.count == 1 || variable != nil, turns > 0,
      turns <= Self.mostSteps
    else {
      throw CommandFailure(
        .badData,
        "\(name), line \(line.number), column 8: Expected a count of at least 1, with at most \(Self.mostSteps) steps in "
          + "total. \"as n\" after it replaces $n with the number of the repetition.")
    }
    var steps: [ScenarioStep] = []
    let fixed = variable == nil ? try self.steps(body, of: name) : nil
    for turn in 1...turns {
      if let fixed { steps += fixed }
      if let variable { steps += try self.steps(body.map { $0.replacing("$" + variable, by: turn) }[...], of: name) }
      guard count + steps.count <= Self.mostSteps else {
        throw CommandFailure(
          .badData, "\(name), line \(line.number), column 8: Expected at most \(Self.mostSteps) steps in total.")
      }
    }
    return steps
  }

  private func endOfLoop(
    in lines: ArraySlice<ScenarioLine>, from start: Int, _ line: ScenarioLine, _ name: String
  ) throws(CommandFailure) -> Int {
    var depth = 1
    for index in start..<lines.endIndex {
      if lines[index].text == "repeat" || lines[index].text.hasPrefix("repeat ") { depth += 1 }
      if lines[index].text == "end" { depth -= 1 }
      if depth == 0 { return index }
    }
    throw CommandFailure(.badData, "\(name), line \(line.number): \"repeat\" needs an \"end\" below it.")
  }

  private func step(_ line: ScenarioLine, of name: String) throws(CommandFailure) -> ScenarioStep {
    if line.block != nil {
      return ScenarioStep(line: line.number, text: line.text, client: nil, action: try block(line, of: name))
    }
    do throws(TextError) {
      let (client, rest) = Self.owner(of: line.text)
      let action: ScenarioStep.Action
      do throws(TextError) { action = try self.action(rest) } catch {
        throw error.column == nil
          ? error : error.moved(by: line.text.unicodeScalars.count - rest.unicodeScalars.count)
      }
      return ScenarioStep(
        line: line.number, text: line.text, client: Self.subject(of: action, rest) ?? client,
        action: client == ScenarioStep.server ? action.atServer : action)
    } catch {
      let place = "line \(line.number)" + (error.column.map { ", column \($0)" } ?? "")
      var failure = CommandFailure(.badData, "\(name), \(place): \(error.reason)")
      failure.excerpt = error.excerpt(of: line.text)
      throw failure
    }
  }

  /// Splits a line into the client's name before the colon, and the step.
  private static func owner(of line: String) -> (client: String?, rest: String) {
    let (word, rest) = firstWord(line)
    guard word.count > 1, word.hasSuffix(":"), word.dropLast().allSatisfy({ $0.isLetter || $0.isNumber || $0 == "-" })
    else { return (nil, line) }
    return (String(word.dropLast()), rest)
  }

  /// The client's name in the text of a step that opens the client.
  private static func subject(of action: ScenarioStep.Action, _ text: String) -> String? {
    guard case .world(.open) = action else { return nil }
    return firstWord(firstWord(text).1).0
  }

  /// Rejects names of clients and listeners that are never opened, and a batch that is never committed.
  private func check(_ steps: [ScenarioStep], of name: String) throws(CommandFailure) {
    var (clients, listeners, bundles): (Set<String>, Set<String>, Set<String>) = ([], [], [])
    var batches: [String: ScenarioStep] = [:]
    func fail(_ step: ScenarioStep, _ reason: String) -> CommandFailure {
      CommandFailure(.badData, "\(name), line \(step.line): \(reason)")
    }
    if steps.count > Self.mostSteps {
      throw fail(steps[Self.mostSteps], "A scenario can have at most \(Self.mostSteps) steps. Split it.")
    }
    for step in steps {
      let owner = step.client ?? ""
      if case .world(.open(let opening)) = step.action {
        if let other = opening.owner, !clients.contains(other) || other == owner {
          throw fail(step, "Client \(other) does not exist yet, so its cache cannot be shared.")
        }
        if !clients.insert(owner).inserted { throw fail(step, "Client \(owner) already exists.") }
        if clients.count > Self.mostClients {
          throw fail(step, "A scenario can have at most \(Self.mostClients) clients.")
        }
        continue
      }
      if step.client == ScenarioStep.server {
        guard case .world(.write) = step.action else {
          throw fail(step, "Only writes can follow \"server:\", such as set, update and delete.")
        }
        continue
      }
      if let client = step.client, !clients.contains(client) {
        throw fail(step, "Client \(client) does not exist yet. Open it with \"client \(client)\".")
      }
      if case .client = step.action, step.client == nil, !clients.isEmpty {
        throw fail(step, "This step needs a client. Write \(clients.sorted()[0]): before it.")
      }
      switch step.action {
      case .client(.listen(_, let listener?, _)), .client(.listenNamed(_, let listener?, _)):
        listeners.insert(owner + "/" + listener)
      case .world(.bundle(let bundle)): bundles.insert(bundle.name)
      case .client(.load(let bundle)) where !bundles.contains(bundle):
        throw fail(step, "Bundle \(bundle) does not exist yet. Create it with \"bundle \(bundle) from QUERY\".")
      case .client(.beginBatch): batches[owner] = step
      case .client(.commitBatch) where batches.removeValue(forKey: owner) == nil:
        throw fail(step, "No batch is open to commit.")
      default: break
      }
      if let listener = step.action.listener, !listeners.contains(owner + "/" + listener) {
        throw fail(step, "Listener \(listener) does not exist yet. Open it with \"listen PATH as \(listener)\".")
      }
    }
    if let open = batches.values.min(by: { $0.line < $1.line }) {
      throw fail(open, "This batch has no \"commit\" below it. Add it.")
    }
  }
}

extension ScenarioStep.Action {
  /// The action of a step with the prefix `server`. It must be a write.
  fileprivate var atServer: ScenarioStep.Action {
    if case .client(.request(.request(.write(let mutations)))) = self { .world(.write(mutations)) } else { self }
  }

  /// The listener that the step names.
  fileprivate var listener: String? {
    switch self {
    case .world(.snapshot(let name)), .client(.expectNothing(let name, _)): name
    case .client(.stop(let name)): name
    case .client(.expect(let pattern, _)): pattern.listener
    case .client(.expectState(.results(_, let name), _)): name
    case .client(.expectState(.document(_, _, _, .listener(let name)), _)): name
    case .world, .client: nil
    }
  }
}

/// A line of a scenario that contains a step. If a block of rules or of a bundle follows, its text is part of the line.
struct ScenarioLine {
  /// The line number, counted from 1.
  var number: Int
  /// The text without leading and trailing white space.
  var text: String
  /// The unchanged lines of the block up to its `end`; `nil` if there is no block.
  var block: [String]?

  /// A copy of the line in which the number replaces each occurrence of `name`.
  func replacing(_ name: String, by number: Int) -> ScenarioLine {
    ScenarioLine(
      number: self.number, text: text.replacing(name, with: "\(number)"),
      block: block?.map { $0.replacing(name, with: "\(number)") })
  }

  /// Whether a line begins a block. Such lines are `rules`, and `bundle` with a name.
  private static func opensBlock(_ text: String) -> Bool {
    let words = text.split(whereSeparator: \.isWhitespace)
    return words == ["rules"] || words.count == 2 && words[0] == "bundle"
  }

  /// Splits the text of a scenario into lines.
  /// - Returns: the first comment, and the lines that are neither empty nor a comment.
  /// - Throws: `CommandFailure` with the line of a block that has no end.
  static func read(_ text: String, of name: String) throws(CommandFailure) -> (summary: String, lines: [ScenarioLine]) {
    let rows = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }.map(String.init)
    var (summary, lines) = (String?.none, [ScenarioLine]())
    var index = rows.startIndex
    while index < rows.endIndex {
      let line = String(rows[index].trimming())
      index += 1
      if line.hasPrefix("#") {
        summary = summary ?? String(line.drop { $0 == "#" }.trimming())
      } else if !line.isEmpty {
        var read = ScenarioLine(number: index, text: line)
        if opensBlock(line) {
          guard let end = rows[index...].firstIndex(where: { $0.trimming() == "end" }) else {
            throw CommandFailure(.badData, "\(name), line \(index): \"\(line)\" needs an \"end\" below it.")
          }
          read.block = Array(rows[index..<end])
          index = end + 1
        }
        lines.append(read)
      }
    }
    return (summary ?? "", lines)
  }
}
