// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

extension DashboardState {
  /// Why a command can do nothing now; `nil` if it can. Help shows the reason, and pressing the key says it.
  package func reasonDisabled(_ command: Command) -> String? {
    switch command {
    case .focusDetail: detail == nil && selectedKey == nil ? "no document is selected" : nil
    case .edit where focus == .writes:
      writes.selected?.isRejected == true ? nil : "only a rejected write can be edited"
    case .edit:
      selectedKey.map { document($0)?.exists == true ? nil : "its content is not known" } ?? "no document is selected"
    case .delete: selectedKey == nil ? "no document is selected" : nil
    case .cancelWrite: reasonAgainstCancelling
    case .mark: writes.selected.map { $0.isFinished && !$0.isRejected } ?? true ? "no write is waiting" : nil
    case .retryNow where focus == .writes && writes.chosen.contains { $0.isRejected }: nil
    case .nextMatch, .previousMatch: detail?.search.isEmpty != false ? "nothing is searched for: / searches" : nil
    case .dropRejected: writes.rejected.isEmpty ? "no write was rejected" : nil
    case .retryNow:
      !network.isNetworkEnabled
        ? "you are offline: o goes online" : network.retryAt == nil ? "nothing waits for a retry" : nil
    case .toggleListener:
      focus == .collections && selectedCollection == nil ? "no collection is selected" : nil
    case .onlyListener:
      feed.onlyListener == nil && feed.selected?.listener == nil ? "no listener's row is selected" : nil
    case .onlyDocument: feed.onlyDocument == nil && feed.selected?.key == nil ? "no document's row is selected" : nil
    case .explain: selectedQuery == nil ? "no collection and no listener's row is selected" : nil
    case .filterLikeThis: selectedField == nil ? "no field is selected" : nil
    case .filter:
      switch focus {
      case .feed, .writes, .detail: nil
      case .collections: selectedCollection == nil ? "no collection is selected" : nil
      case .network: "this pane has no filter"
      }
    case .copy:
      selectedKey == nil && (focus != .collections || selectedCollection == nil)
        && (focus != .feed || feed.selected == nil)
        ? "nothing is selected" : nil
    case .themes: configuration.themes.isEmpty ? "no themes are installed" : nil
    case .clearFeed: feed.rows.isEmpty ? "the feed is empty" : nil
    case .unzoom: isZoomed ? nil : "nothing is zoomed"
    default: nil
    }
  }

  private var reasonAgainstCancelling: String? {
    guard let selected = writes.selected else { return "no write is waiting" }
    if !writes.marked.isEmpty { return nil }
    switch selected.state {
    case .inFlight: return "\(selected.batch) is in flight: it may already have been applied"
    case .acknowledged: return "\(selected.batch) is acknowledged"
    case .held, .queued, .backoff, .rejected: return nil
    }
  }
}
