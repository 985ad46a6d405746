// SPDX-License-Identifier: Apache-2.0
import ClientPort
import CommandOptions
import CommandOutput
import Dashboard
import DashboardModel
package import Dispatch
import FirestoreClientState
import FirestoreModel
import FirestoreText
import Glibc

/// Commands that are typed in a session without a screen.
extension PlainSession {
  private static let help = [
    "words: offline, online, fault WORDS (latency 200ms, next write drop-ack, down watch), calm",
    "  listen PATH [where CONDITION] [order by FIELD] [limit N], stop NAME",
    "  set PATH JSON, update PATH FIELD=VALUE ..., delete PATH, undo, redo",
    "  drop NUMBER, aside NUMBER (keep, do not send), again NUMBER (resend a write that was rejected or set aside), retry",
    "  queue, network, listeners, feed, inside, collections, requests, document PATH; append --json for JSON",
    "  follow requests: print each decision of the rules",
    "  expect EVENT [PATH] [on LISTENER] [with CODE] [within TIME], expect nothing; EVENT: "
      + EventPattern.Kind.expected.map(\.rawValue).joined(separator: ", "),
    "  help, quit",
  ]

  /// Performs the commands on standard input in order.
  /// - Returns: whether the last command was `quit`.
  func followWords() async -> Bool {
    guard let parse = options.words else { return false }
    let lines = PlainInput.lines()
    for await line in lines.stream {
      defer { lines.room.signal() }
      do {
        guard let word = try parse(line) else { continue }
        if case .quit = word { return true }
        await take(word, line)
      } catch {
        say("not understood: \((error as? CommandFailure)?.message ?? "\(error)")")
      }
    }
    return false
  }

  private func take(_ word: PlainWord, _ line: String) async {
    if word.writes, let reason = refusal { return say("rejected: \(reason)") }
    switch word {
    case .request(.drop(let batch)): await drop(batch)
    case .request(let typed):
      perform(state.perform(typed))
      // The dashboard itself reports faults that happen once.
      if case .fault(let change) = typed, !change.isOnce { say("faults: \(FaultText.account(of: change))") }
    case .listen(let query):
      perform(state.listen(to: query, name: ListenerRecord.defaultName(for: query)))
      say("listens to \(QueryText.line(query))" + (state.listeners.last.map { " as \($0.name)" } ?? ""))
    case .stop(let name):
      guard let listener = state.listeners.first(where: { $0.name == name }) else {
        return say("no listener is called \(name); 'listeners' lists them")
      }
      stop(listener)
    case .tell(let subject, let asJSON): await tell(subject, asJSON: asJSON || options.report == .lines)
    case .document(let key, let asJSON): await tell(key, asJSON: asJSON || options.report == .lines)
    case .followRequests(let asJSON): await followRequests(asJSON: asJSON || options.report == .lines)
    case .help: for line in Self.help { say(line) }
    case .expect(let pattern, let limit):
      let isMet = await waits(for: pattern, within: limit)
      tell(isMet, isMet ? "\(pattern) happened" : "\(pattern) did not happen within \(limit)")
    case .expectNothing(let limit):
      let surprise = await surprise(within: limit)
      tell(surprise == nil, surprise.map { "\($0) happened" } ?? "nothing happened")
    case .quit: break
    }
  }

  private func tell(_ subject: PlainSubject, asJSON: Bool) async {
    if subject == .inside {
      do {
        guard let (inside, survey) = try await inside() else { return }
        if asJSON { return print([ClientJSON.inside(inside, survey, in: options.storage.database)]) }
        for line in PlainSummary.inside(inside, survey) { say(line) }
      } catch {
        say("the client cannot be inspected: \(error)")
      }
      return
    }
    switch subject {
    case .collections: await lookAtCollections()
    case .requests: await askForRequests()
    case .queue, .network, .listeners, .feed, .inside: break
    }
    let present = await present()
    if asJSON { return print(SessionLines.lines(of: subject, present)) }
    for line in PlainSummary.lines(of: subject, present) { say(line) }
  }

  /// Reports whether an expectation was met. A failure changes the exit status.
  private func tell(_ isMet: Bool, _ what: String) {
    if !isMet { failedExpectations += 1 }
    say((isMet ? "as expected: " : "not as expected: ") + what, isMet: isMet)
  }

  /// The state with the current queue. Without this, a write could be visible in a listener before it is in the queue.
  func present() async -> DashboardState {
    let status = await status()
    var present = state
    var changes = StatusChanges(knowsPast: true)
    for event in status.map({ changes.changes(in: $0) }) ?? [] {
      _ = update(&present, .client(event, at: .now))
    }
    return present
  }

  private func drop(_ batch: BatchID) async {
    guard let request = await present().request(dropping: batch) else {
      return say("no write \(batch) is pending or rejected; 'queue' lists them")
    }
    perform([.client(request)])
  }

  private var refusal: String? {
    options.isReadOnly ? "this session may not write (--readonly, or the connection is read-only)" : nil
  }
}

/// Requests to the client that must be sent before a pane can be reported.
extension PlainSession {
  /// The maximum time to wait for the server's version of a document.
  private static let patience = Duration.seconds(10)

  /// Opens a document, which remains open until another document is opened. Reports the contents of its pane with the
  /// server's version. If the server is unreachable, reports the cached version.
  func tell(_ key: DocumentKey, asJSON: Bool) async {
    perform(state.openDetail(key))
    if !isSettled(key) { _ = await wait(within: Self.patience) { $0.isSettled(key) } }
    // Writes of previous words are in the cache, and in the report.
    _ = await status()
    await bridge?.readLayers(of: key).value
    let present = await present()
    guard let detail = present.detail, detail.key == key, detail.isLoaded else {
      return say("\(key.path.text) is unknown: neither the server nor the cache has answered")
    }
    if asJSON { return print([DetailJSON.line(detail, present)]) }
    for line in PlainSummary.lines(of: detail, present) { say(line) }
  }

  /// Whether the open document is current.
  private func isSettled(_ key: DocumentKey) -> Bool {
    guard let bridge, bridge.subscriptions.isOpen(.detail(key)) else { return true }
    guard let detail = state.detail, detail.key == key, detail.isLoaded else { return false }
    return detail.source?.isFromCache == false || state.network.isOffline
  }

  /// Lists the root collections and counts the documents of each, at the server if it is reachable.
  func lookAtCollections() async {
    await bridge?.listCollections(below: .root).value
    for root in state.browser.roots ?? [] { await bridge?.countNow(ResourcePath(root)).value }
  }

  // MARK: Requests

  /// Reports each later request on which the security rules decide, until the session ends.
  func followRequests(asJSON: Bool) async {
    if followedRequests != nil {
      // Requests since the last poll are also reported.
      followedRequests?.asJSON = asJSON
      return await tellRequests()
    }
    await askForRequests()
    if let note = state.requestsNote, state.requests.all == nil { return say("requests: \(note)") }
    followedRequests = FollowedRequests(told: state.requests.all?.last?.number ?? 0, asJSON: asJSON)
    say("prints each request that the rules decide on")
    beginFollowing()
  }

  /// Requests the decisions since the last poll, and reports them.
  func tellRequests() async {
    guard followedRequests != nil else { return }
    await bridge?.listDecisions(after: state.requests.all?.last?.number ?? 0)?.value
    // A word and the timer may have polled at the same time.
    guard let followed = followedRequests else { return }
    // A restarted server counts from 1 again.
    let all = state.requests.all ?? []
    let isAnew = (all.last?.number ?? 0) < followed.told
    followedRequests?.told = all.last?.number ?? followed.told
    for decision in all where isAnew || decision.number > followed.told {
      if followed.asJSON {
        print([SessionLines.request(told: decision)])
      } else {
        say(PlainSummary.line(of: decision, state))
      }
    }
  }

  /// Requests the decisions of the server's security rules.
  func askForRequests() async {
    if state.reasonAgainstRequests == nil { await bridge?.listDecisions(after: nil)?.value }
  }
}

/// Records which requests were already reported, while new ones are reported as they arrive.
struct FollowedRequests {
  /// The number of the last request that was reported.
  var told: Int
  var asJSON: Bool
}

/// The lines of standard input. A thread reads them until the input or the process ends.
package enum PlainInput {
  /// The maximum length of a line in bytes. A document has at most 1 MiB.
  private static let longest = 4 << 20
  /// The maximum number of unread lines. If it is reached, the thread waits.
  private static let most = 64

  package struct Lines: Sendable {
    package let stream: AsyncStream<String>
    /// Must be signaled once for each line that was read.
    package let room: DispatchSemaphore
  }

  /// Starts reading lines.
  package static func lines(of descriptor: CInt = STDIN_FILENO) -> Lines {
    let (stream, continuation) = AsyncStream.makeStream(of: String.self)
    // Created with zero: a semaphore must not be released with a lower value than its initial one.
    let room = DispatchSemaphore(value: 0)
    for _ in 0..<most { room.signal() }
    // A background process that reads its terminal would be stopped. It gets an error instead, which ends the input.
    if isatty(descriptor) == 1 { signal(SIGTTIN, SIG_IGN) }
    DispatchQueue(label: "hearth.words").async {
      read(descriptor) { line in
        room.wait()
        continuation.yield(line)
      }
      continuation.finish()
    }
    return Lines(stream: stream, room: room)
  }

  private static func read(_ descriptor: CInt, _ take: (String) -> Void) {
    var line: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = Glibc.read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      for byte in chunk[..<count] {
        if byte == UInt8(ascii: "\n") {
          take(String(decoding: line, as: UTF8.self))
          line.removeAll(keepingCapacity: true)
        } else if line.count < longest {
          line.append(byte)
        }
      }
    }
    if !line.isEmpty { take(String(decoding: line, as: UTF8.self)) }
  }
}
