// SPDX-License-Identifier: Apache-2.0
import CommandOptions
import CommandOutput
import Dashboard
import DashboardModel
import Dispatch
import FirestoreClientState
import FirestoreModel
import FirestoreText

/// Words that a user types to a session without a screen.
extension PlainSession {
  private static let help = [
    "words: offline, online, fault WORDS (latency 200ms, next write drop-ack, down watch), calm",
    "  listen PATH [where CONDITION] [order by FIELD] [limit N], stop NAME",
    "  set PATH JSON, update PATH FIELD=VALUE ..., delete PATH, undo, redo",
    "  drop NUMBER, aside NUMBER (not sent, kept), again NUMBER (what was refused or set aside), retry",
    "  queue, network, listeners, feed, inside, collections, requests, document PATH; with --json behind it: for programs",
    "  follow requests: each as rules decide on it",
    "  expect added|modified|removed|acknowledged|rejected [PATH] [within TIME], expect synced, expect nothing",
    "  help, quit",
  ]

  /// Does what the lines of standard input say, one after the other.
  /// - Returns: whether the last of them was `quit`.
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
    if word.writes, let reason = refusal { return say("refused: \(reason)") }
    switch word {
    case .perform(let effects): for effect in effects { perform([.client(effect)]) }
    case .fault(let change):
      perform(state.cause(change))
      // The dashboard itself tells of what happens once.
      if case .event(_) = change { break }
      say("faults: \(FaultText.account(of: change))")
    case .write(let mutation): perform([.client(.write([mutation]))])
    case .listen(let query):
      perform(state.listen(to: query, name: ListenerRecord.defaultName(for: query)))
      say("listens to \(QueryText.line(query))" + (state.listeners.last.map { " as \($0.name)" } ?? ""))
    case .stop(let name):
      guard let listener = state.listeners.first(where: { $0.name == name }) else {
        return say("no listener is called \(name); listeners tells them")
      }
      stop(listener)
    case .drop(let batch): drop(batch, in: await present())
    case .tell(let subject, let asJSON): await tell(subject, asJSON: asJSON || options.report == .lines)
    case .document(let key, let asJSON): await tell(key, asJSON: asJSON || options.report == .lines)
    case .followRequests(let asJSON): await followRequests(asJSON: asJSON || options.report == .lines)
    case .help: for line in Self.help { say(line) }
    case .expect(let pattern, let limit):
      let isMet = await waits(for: pattern, within: limit)
      tell(isMet, isMet ? "\(pattern.words) happened" : "\(pattern.words) did not happen within \(limit)")
    case .expectNothing(let limit):
      let surprise = await surprise(within: limit)
      tell(surprise == nil, surprise.map { "\($0.words) happened" } ?? "nothing happened")
    case .quit: break
    }
  }

  private func tell(_ subject: PlainSubject, asJSON: Bool) async {
    if subject == .inside {
      do {
        guard let (inside, survey) = try await inside() else { return }
        if asJSON { return print([InsideJSON.line(inside, survey)]) }
        for line in PlainAccount.inside(inside, survey) { say(line) }
      } catch {
        say("the client does not tell: \(error)")
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
    for line in PlainAccount.lines(of: subject, present) { say(line) }
  }

  /// Says whether an expectation was met, and remembers one that was not for the exit status.
  private func tell(_ isMet: Bool, _ what: String) {
    if !isMet { failedExpectations += 1 }
    say((isMet ? "as expected: " : "not as expected: ") + what, isMet: isMet)
  }

  /// The state with the queue as it is at this moment: a listener may show a write before the queue that has it.
  func present() async -> DashboardState {
    let status = await status()
    var present = state
    for event in status.map({ StatusNews.lists(of: $0) + [.status($0)] }) ?? [] {
      _ = update(&present, .client(event, at: .now))
    }
    return present
  }

  private func drop(_ batch: BatchID, in state: DashboardState) {
    if state.writes.live.contains(where: { $0.batch == batch }) {
      perform([.client(.cancelWrite(batch))])
    } else if state.writes.rejected.contains(where: { $0.batch == batch }) {
      perform([.client(.dropRejected([batch]))])
    } else {
      say("no write \(batch) waits or was refused; queue tells them")
    }
  }

  private var refusal: String? {
    options.isReadOnly ? "this session may not write (--readonly, or the connection is read-only)" : nil
  }
}
