// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel

/// The requests that the server's security rules have decided on, the newest first.
package struct RequestsPanel: Sendable {
  /// `nil` until the server has answered.
  var decisions: [RuleDecision]?
  var failure: String?

  /// What stands in place of rows.
  var note: String? {
    if let failure { return failure }
    return switch decisions?.isEmpty {
    case nil: "asking the server"
    case true?: "rules have decided on nothing so far; administrators are not asked about"
    case false?: nil
    }
  }
}

extension DashboardState {
  /// Why there are no requests to show; `nil` if the server can be asked.
  var reasonAgainstRequests: String? {
    switch configuration.backend.kind {
    case .embedded: "rules hold at 'hearth serve --rules': connect to it (--emulator)"
    case .cloud: "Cloud Firestore does not tell what its rules decide"
    case .emulator: nil
    }
  }

  mutating func openRequests() -> [Effect] {
    overlay = .list(ListOverlay(content: .requests(RequestsPanel())))
    return [.client(.listDecisions)]
  }

  mutating func receive(_ result: ClientEvent.DecisionsResult) {
    guard case .requests(var panel)? = overlay?.list?.content else { return }
    switch result {
    case .success(let decisions):
      // The selected request stays selected while newer ones come in above it.
      let selected = overlay?.list.flatMap { panel.decision(at: $0.cursor.index)?.number }
      panel.decisions = decisions.sorted { $0.number > $1.number }
      panel.failure = nil
      let index = selected.flatMap { number in panel.decisions?.firstIndex { $0.number == number } } ?? 0
      overlay?.list?.cursor.select(index: index, in: 0..<decisions.count)
    case .failure(let status): panel.failure = status.description
    }
    overlay?.list?.content = .requests(panel)
  }
}

extension RequestsPanel {
  func decision(at index: Int) -> RuleDecision? {
    guard let decisions, decisions.indices.contains(index) else { return nil }
    return decisions[index]
  }
}
