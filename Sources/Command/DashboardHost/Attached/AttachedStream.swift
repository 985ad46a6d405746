// SPDX-License-Identifier: Apache-2.0
package import ClientPort
import CommandOptions
import CommandOutput
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreJSON
import FirestoreModel
import FirestoreQuery
import FirestoreText

/// The news of a program, as lines on standard output until the program ends.
package struct AttachedStream {
  private let address: InspectionAddress
  private let greeting: InspectionGreeting
  private let link: InspectionLink
  /// The line that ends it; `nil` to go on until the program ends.
  private let goal: AttachedGoal?
  private let timeout: Duration?

  private enum End: Sendable {
    /// The program's end, in words.
    case program(String)
    case reached, timedOut, interrupted
  }

  package init(
    _ address: InspectionAddress, _ greeting: InspectionGreeting, _ link: InspectionLink,
    until goal: AttachedGoal? = nil,
    timeout: Duration? = nil
  ) {
    self.address = address
    self.greeting = greeting
    self.link = link
    self.goal = goal
    self.timeout = timeout
  }

  /// - Throws: the error of the output; with a goal `try-again` if it was not reached in time, and `unavailable` if the
  ///   program has ended before.
  package func run() async throws {
    let interruptions = Surroundings.current.interruptions()
    let causes = interruptions.causes
    // The first task to finish ends the group: the program's end, or an error of the output; an interruption is silent.
    let end = try await withThrowingTaskGroup(of: End.self) { group in
      group.addTask { try await self.printNews() }
      group.addTask {
        _ = await causes.first { _ in true }
        return .interrupted
      }
      if let timeout {
        group.addTask {
          // The sleep is cancelled when another event ends the run.
          try? await ContinuousClock().sleep(for: timeout)
          return .timedOut
        }
      }
      defer {
        link.cut()
        group.cancelAll()
      }
      return try await group.next() ?? .interrupted
    }
    withExtendedLifetime(interruptions) {}
    switch end {
    case .reached, .interrupted: return
    case .timedOut:
      if goal != nil { throw CommandFailure(.tryAgain, "it did not happen within \(timeout ?? .zero).") }
    case .program(let words):
      if goal != nil {
        throw CommandFailure(.unavailable, "\(greeting.name) \(address) \(words) before it happened.")
      }
      StandardError.write("hearth: \(greeting.name) \(address) \(words).")
    }
  }

  private func printNews() async throws -> End {
    let output = OutputFile.standard()
    var lines = AttachedLines(greeting)
    try output.data(line: AttachedLines.program(address, greeting, type: "attached"))
    try output.flush()
    var end = "has ended"
    var printed = 0
    link.send(InspectionWord(control: false))
    while let received = await link.next() {
      for line in received {
        // News that only a later version of the program knows is left out.
        guard let news = try? InspectionLine.value(InspectionNews.self, of: line) else { continue }
        if case .refused(let reason) = news { throw CommandFailure(.unavailable, reason) }
        if case .closed = news { end = "has closed its client" }
        for text in lines.lines(of: news) {
          try output.data(line: text)
          printed += 1
          guard let goal, goal.isReached(by: text, number: printed) else { continue }
          try output.flush()
          return .reached
        }
      }
      try output.flush()
    }
    return .program(end)
  }
}

/// The news of a program as JSON objects, one to a line, for scripts.
package struct AttachedLines {
  private typealias Member = JSONSyntax.Member

  package let greeting: InspectionGreeting
  private var news = StatusNews(knowsPast: true)
  private var lastState = ""
  private var lastStatus: ClientStatus?

  init(_ greeting: InspectionGreeting) { self.greeting = greeting }

  /// The first line of a stream, and each line of a list of programs.
  package static func program(_ address: InspectionAddress, _ greeting: InspectionGreeting, type: String) -> String {
    object([
      Member("type", string(type)), Member("id", string("\(address)")),
      Member("process", integer(Int(greeting.process))), Member("name", string(greeting.name)),
      Member("project", string(greeting.database.project)), Member("database", string(greeting.database.database)),
      Member("backend", string(greeting.backend.rawValue)), Member("host", greeting.host.map(string) ?? null),
      Member("listeners", integer(greeting.listeners)), Member("since", time(greeting.since)),
    ]).lineText
  }

  /// The lines for one piece of news; none if nothing that they show has changed.
  package mutating func lines(of news: InspectionNews) -> [String] {
    switch news {
    case .listener(let state):
      let source = state.options.source == .cache ? "cache" : "default"
      return [
        line(
          "listener",
          [
            Member("listener", Self.integer(state.id)), Member("query", Self.string(QueryText.line(state.query))),
            Member("source", Self.string(source)),
            Member("includeMetadataChanges", Self.boolean(state.options.includeMetadataChanges)),
          ] + Self.members(state.result))
      ]
    case .snapshot(let snapshot): return [line(snapshot)]
    case .ended(let id, let status):
      return [
        line(
          "stopped",
          [Member("listener", Self.integer(id)), Member("error", status.map(ClientJSON.status) ?? Self.null)])
      ]
    case .missed(let count, let results):
      let listeners = results.sorted { $0.key < $1.key }.map { id, result in
        Self.object([Member("listener", Self.integer(id))] + Self.members(result))
      }
      return [
        line("missed", [Member("snapshots", Self.integer(count)), Member("listeners", JSONSyntax(.array(listeners)))])
      ]
    case .status(let told):
      let status = told.completed(with: lastStatus)
      lastStatus = status
      return lines(of: status)
    case .cacheProblem(let message): return [line("cache", [Member("problem", Self.string(message))])]
    case .faults(let settings): return [line("faults", ClientJSON.faults(settings))]
    case .answer, .refused, .closed: return []
    }
  }

  // MARK: Snapshots

  private func line(_ snapshot: InspectedSnapshot) -> String {
    let changes = snapshot.changes.map { change in
      let kind = WatchedChange.Kind(change.kind).rawValue
      let document = change.document
      return Self.object([
        Member("type", Self.string(kind)), Member("path", Self.string(document.key.path.text)),
        Member("data", ClientJSON.data(document, greeting.database)),
        Member("pendingWrites", Self.boolean(document.hasPendingWrites)),
      ])
    }
    let causes = snapshot.causes.map { Self.string($0.words.name) }
    let why = snapshot.causes.map(\.words.description).joined(separator: ", ")
    return line(
      "snapshot",
      [
        Member("listener", Self.integer(snapshot.listener)), Member("causes", JSONSyntax(.array(causes))),
        Member("why", Self.string(why)),
      ] + Self.members(snapshot.result) + [
        Member("changes", JSONSyntax(.array(changes))), Member("omitted", Self.integer(snapshot.omitted)),
        Member("time", Self.time(snapshot.time)),
      ])
  }

  // MARK: Status

  private mutating func lines(of status: ClientStatus) -> [String] {
    var lines: [String] = []
    let outcomes = news.outcomes(of: status)
    if news.missedOutcomes > 0 { lines.append(line("missed", [Member("writes", Self.integer(news.missedOutcomes))])) }
    for outcome in outcomes {
      let word: String
      switch outcome.rejection?.code {
      case nil: word = "acknowledged"
      case .cancelled?: word = "cancelled"
      case .deadlineExceeded?: word = "expired"
      case _?: word = "rejected"
      }
      lines.append(
        line(
          "write",
          [
            Member("batch", Self.integer(Int(outcome.batch.rawValue))), Member("outcome", Self.string(word)),
            Member("error", outcome.rejection.map(ClientJSON.status) ?? Self.null),
          ]))
    }
    for event in news.changes(in: status) {
      switch event {
      case .pendingWrites(let writes, let size):
        lines.append(
          line(
            "pending",
            [
              Member("count", Self.integer(size?.count ?? writes.count)),
              Member("writes", JSONSyntax(.array(writes.map(ClientJSON.write)))),
            ]))
      case .rejectedWrites(let writes):
        lines.append(line("rejected", [Member("writes", JSONSyntax(.array(writes.map(ClientJSON.rejected))))]))
      case .indexes(let indexes):
        let texts = indexes.map { Self.string($0.definition.description) }
        lines.append(line("indexes", [Member("indexes", JSONSyntax(.array(texts)))]))
      case .retentions(let retentions):
        lines.append(line("kept", [Member("kept", JSONSyntax(.array(retentions.map(InsideJSON.retention))))]))
      default: break
      }
    }
    let state = line("status", ClientJSON.status(status))
    if state != lastState {
      lastState = state
      lines.append(state)
    }
    return lines
  }

  // MARK: Parts

  private func line(_ type: String, _ members: [Member]) -> String {
    Self.object([Member("type", Self.string(type))] + members).lineText
  }

  private static func members(_ result: ListenerState.Result) -> [Member] {
    [
      Member("count", result.count.map(integer) ?? null), Member("fromCache", boolean(result.isFromCache)),
      Member("pendingWrites", boolean(result.hasPendingWrites)),
    ]
  }

  private static let null = JSONSyntax(.null)
  private static func object(_ members: [Member]) -> JSONSyntax { JSONSyntax(.object(members)) }
  private static func string(_ text: String) -> JSONSyntax { JSONSyntax(.string(text)) }
  private static func integer(_ number: Int) -> JSONSyntax { JSONSyntax(.integer(Int64(number))) }
  private static func boolean(_ flag: Bool) -> JSONSyntax { JSONSyntax(.boolean(flag)) }
  private static func time(_ time: Timestamp) -> JSONSyntax { string(time.toMilliseconds.rfc3339Text) }
}

/// The condition that ends `hearth attach --json --until`.
package enum AttachedGoal: Hashable, Sendable {
  /// The types of lines that tell what happens.
  package enum Kind: String, CaseIterable, Hashable, Sendable {
    case listener, snapshot, stopped, write, pending, rejected, indexes, status, faults, missed
  }

  /// A number of lines after the first one, which names the program.
  case count(Int)
  /// A line of this type.
  case line(Kind)

  package static func parse(_ text: String) throws -> AttachedGoal {
    if let count = Int(text), count > 0 { return .count(count) }
    if let kind = Kind(rawValue: text) { return .line(kind) }
    throw TextError("Expected a number of lines, or \(Kind.allCases.map(\.rawValue).joined(separator: ", ")).")
  }

  /// - Parameters:
  ///   - line: a line that was printed.
  ///   - number: how many were printed with it.
  func isReached(by line: String, number: Int) -> Bool {
    switch self {
    case .count(let count): number >= count
    // The type is the first member of each line.
    case .line(let kind): line.hasPrefix(#"{"type": "\#(kind.rawValue)""#)
    }
  }
}
