// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreClientState
import FirestoreModel

/// The requests that the server's security rules have decided on, the newest first. While it is open the server is
/// asked repeatedly.
package struct RequestsPanel: Sendable {
  /// The pause between two questions to the server, in seconds.
  private static let pause: Int64 = 1

  /// The decisions; `nil` until the server has answered.
  private(set) var all: [RuleDecision]?
  private(set) var failure: String?
  var isDeniedOnly = false
  var asksAgainAt: Timestamp

  init(now: Timestamp) { asksAgainAt = now.advanced(seconds: Self.pause) }

  var denied: Int { all?.count { !$0.isAllowed } ?? 0 }

  /// The decisions that are listed.
  var decisions: [RuleDecision] { isDeniedOnly ? all?.filter { !$0.isAllowed } ?? [] : all ?? [] }

  /// The note in place of rows.
  var note: String? {
    if let failure { return failure }
    guard let all else { return "asking the server" }
    if all.isEmpty { return "no request has been put to rules so far; administrators' are not" }
    return decisions.isEmpty ? "none of the last \(all.count) was denied" : nil
  }

  mutating func take(_ answer: ClientEvent.DecisionsResult) {
    switch answer {
    case .success(let decisions): (all, failure) = (decisions.sorted { $0.number > $1.number }, nil)
    case .failure(let status): failure = status.description
    }
  }

  /// The question to the server, if it is due, for decisions since the last answer.
  mutating func takeDueQuestion(at now: Timestamp) -> [Effect] {
    guard asksAgainAt <= now else { return [] }
    asksAgainAt = now.advanced(seconds: Self.pause)
    return [.client(.listDecisions(after: failure == nil ? all?.first?.number ?? 0 : nil))]
  }
}

extension RuleDecision {
  /// The request and its user, with the decision on it.
  var sentence: String {
    let verdict = (isAllowed ? "allowed" : "denied") + (line.map { " by line \($0)" } ?? "")
    let end = isAllowed || reason.isEmpty ? "" : ": \(reason)"
    return "\(method) \(path.isRoot ? "/" : path.text) as \(user ?? "nobody"): \(verdict)\(end)"
  }
}

extension DashboardState {
  /// The reason why there are no requests to show; `nil` if the server can be asked.
  var reasonAgainstRequests: String? {
    switch configuration.backend.kind {
    case .embedded: "rules hold at 'hearth serve --rules': connect to it (--emulator)"
    case .cloud: "Cloud Firestore does not tell what its rules decide"
    case .emulator: nil
    }
  }

  mutating func openRequests() -> [Effect] {
    overlay = .list(ListOverlay(content: .requests(RequestsPanel(now: now))))
    return [.client(.listDecisions(after: nil))]
  }

  mutating func receive(_ result: ClientEvent.DecisionsResult) { changeRequests { $0.take(result) } }

  mutating func toggleDeniedRequests() { changeRequests { $0.isDeniedOnly.toggle() } }

  /// Changes the requests. The selected one stays selected while others come or go; the newest one stays so at the top.
  private mutating func changeRequests(_ change: (inout RequestsPanel) -> Void) {
    guard let list = overlay?.list, case .requests(var panel) = list.content else { return }
    let selected = list.cursor.index == 0 ? nil : panel.decision(at: list.cursor.index)?.number
    change(&panel)
    let rows = panel.decisions
    let index = selected.flatMap { number in rows.firstIndex { $0.number == number } } ?? 0
    overlay?.list?.cursor.select(index: index, in: rows.indices)
    overlay?.list?.content = .requests(panel)
  }

  /// The time of the next question of an open page to the server, or to the client.
  var nextQuestion: Timestamp? {
    switch overlay?.list?.content {
    case .requests(let panel): panel.asksAgainAt
    case .inside(let panel): panel.asksAgainAt
    default: nil
    }
  }

  mutating func takeDueQuestion() -> [Effect] {
    switch overlay?.list?.content {
    case .requests(var panel):
      defer { overlay?.list?.content = .requests(panel) }
      return panel.takeDueQuestion(at: now)
    case .inside(var panel):
      defer { overlay?.list?.content = .inside(panel) }
      return panel.takeDueQuestion(at: now)
    default: return []
    }
  }

  /// Moves the time of the next question after the device's clock was set back.
  mutating func moveQuestion(_ moved: (Timestamp) -> Timestamp) {
    switch overlay?.list?.content {
    case .requests(var panel):
      panel.asksAgainAt = moved(panel.asksAgainAt)
      overlay?.list?.content = .requests(panel)
    case .inside(var panel):
      panel.asksAgainAt = moved(panel.asksAgainAt)
      overlay?.list?.content = .inside(panel)
    default: break
    }
  }
}

extension RequestsPanel {
  func decision(at index: Int) -> RuleDecision? {
    let rows = decisions
    return rows.indices.contains(index) ? rows[index] : nil
  }
}
