// SPDX-License-Identifier: Apache-2.0
package import DashboardModel
package import FirestoreClientState
import FirestoreModel
package import TerminalCanvas

/// The list of requests on which the server's security rules decided.
extension DashboardState {
  /// The reason why requests are unavailable; `nil` if they are available.
  package var reasonAgainstRequests: String? {
    switch configuration.backend.kind {
    case .embedded: "rules apply at 'hearth serve --rules': connect to it (--emulator)"
    case .cloud: "Cloud Firestore does not report the decisions of its rules"
    case .emulator: nil
    }
  }

  /// Whether pane 4 shows the requests rather than the events.
  package var showsRequests: Bool { feed.tab == .requests }

  /// The sentence that is shown if there are no requests to list.
  package var requestsNote: String? { reasonAgainstRequests ?? requests.note }

  /// Shows the list of requests, and asks the server for them.
  mutating func openRequests() -> [Effect] {
    feed.tab = .requests
    focusPane(.feed)
    return past == nil && reasonAgainstRequests == nil ? requests.ask(at: now) : []
  }

  /// Switches to the other list of pane 4.
  mutating func turnFeed() -> [Effect] {
    guard showsRequests else { return openRequests() }
    feed.tab = .events
    return []
  }

  /// Shows all details of the selected request.
  mutating func openRequest() {
    guard let decision = requests.selected else { return }
    overlay = .list(ListOverlay(content: .request(decision)))
  }

  /// Handles `esc` in the list of requests: removes the filters. Without filters, selects and follows the newest
  /// request. If the list already follows it, returns to the events.
  mutating func leaveRequests() {
    if requests.isFiltered {
      requests.clearFilter()
    } else if !requests.isFollowing {
      requests.follow()
    } else {
      feed.tab = .events
    }
  }

  mutating func toggleRequestsHeld() { requests.isFollowing ? requests.hold() : requests.follow() }

  mutating func receive(_ result: Result<[RuleDecision], RPCStatus>) {
    requests.take(result)
    guard let (write, found) = requests.takeWanted() else { return }
    guard let found else {
      let kept = requests.failure == nil ? "; it keeps only its last decisions" : ""
      return toast(.warning, "the server has not reported the request of \(write.batch)\(kept)")
    }
    show(found)
  }

  private mutating func show(_ decision: RuleDecision) {
    requests.select(decision)
    if overlay == nil { overlay = .list(ListOverlay(content: .request(decision))) }
  }

  // MARK: Refused writes

  /// Shows the request that contained a rejected write, if the server has reported that request.
  mutating func openRequest(of batch: BatchID) -> [Effect] {
    guard let write = knownWrite(batch).flatMap({ RefusedWrite($0, now: now) }) else { return [] }
    let effects = openRequests()
    if let reason = reasonAgainstRequests {
      toast(.info, reason)
    } else if let known = write.request(among: requests.all ?? []) {
      show(known)
    } else {
      requests.look(for: write)
    }
    return effects
  }

  /// A write that is in the queue or has recently left it.
  func knownWrite(_ batch: BatchID) -> QueueRow? {
    writes.allRows.first { $0.batch == batch } ?? writes.journey(of: batch)?.row
  }

  // MARK: Questions

  /// Whether the dashboard polls the server because the requests are on screen.
  private var asksForRequests: Bool {
    showsRequests && past == nil && reasonAgainstRequests == nil && layout(size).panes[.feed] != nil
  }

  /// The time of the next poll. The dashboard polls the server for requests, and the client for the page about its
  /// internals.
  var nextQuestion: Timestamp? {
    let inside: Timestamp? = if case .inside(let panel)? = overlay?.list?.content { panel.asksAgainAt } else { nil }
    return [inside, asksForRequests ? requests.asksAgainAt : nil].compactMap(\.self).min()
  }

  mutating func takeDueQuestion() -> [Effect] {
    var effects = asksForRequests ? requests.takeDueQuestion(at: now) : []
    if case .inside(var panel)? = overlay?.list?.content {
      effects += panel.takeDueQuestion(at: now)
      overlay?.list?.content = .inside(panel)
    }
    return effects
  }

  /// Shifts the time of the next poll after the device's clock was set back.
  mutating func moveQuestion(_ moved: (Timestamp) -> Timestamp) {
    requests.asksAgainAt = moved(requests.asksAgainAt)
    if case .inside(var panel)? = overlay?.list?.content {
      panel.asksAgainAt = moved(panel.asksAgainAt)
      overlay?.list?.content = .inside(panel)
    }
  }
}

extension DashboardState {
  func requestGeometry(of decision: RuleDecision, _ layout: Layout) -> ListGeometry {
    let width = min(110, layout.size.width - 2)
    let dialog = Dialog(layout, width: width, rows: requestLines(of: decision, layout).count)
    return ListGeometry(dialog: dialog, rows: dialog.content)
  }

  func requestLines(of decision: RuleDecision, _ layout: Layout) -> [RuleDecision.SummaryRow] {
    let width = Dialog(layout, width: min(110, layout.size.width - 2), rows: 1).content.width
    return decision.lines(width: width, configuration.glyphs)
  }
}

extension RuleDecision {
  /// The description of the request, wrapped to the width.
  package func lines(width: Int, _ glyphs: Glyphs) -> [SummaryRow] {
    account.flatMap { line -> [SummaryRow] in
      if line.text.isEmpty { return [line] }
      let parts = WrappedText.lines(line.text, width: max(8, width - line.indent - 4), glyphs.ellipsis)
      return parts.enumerated().map { number, text in
        var part = line
        part.text = text
        if number > 0 { part.indent += 2 }
        return part
      }
    }
  }
}
