// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel

/// Why a command can do nothing now, where that takes more than a word; `nil` if it can.
extension DashboardState {
  var reasonAgainstEditing: String? {
    guard let key = selectedKey else { return "no document is selected" }
    return document(key)?.exists == true ? nil : "its content is not known"
  }

  var reasonAgainstDeleting: String? { selectedKey == nil ? "no document is selected" : nil }

  var reasonAgainstFilterLikeThis: String? { selectedField == nil ? "no field is selected" : nil }

  var reasonAgainstMatching: String? {
    detail?.search.isEmpty != false ? "nothing is searched for: / searches" : nil
  }

  var reasonAgainstMarking: String? {
    writes.selected.map { $0.isFinished && !$0.isRejected } ?? true ? "no write is waiting" : nil
  }

  var reasonAgainstRetrying: String? {
    if !network.isNetworkEnabled { return "you are offline: o goes online" }
    return network.nextRetry == nil ? "nothing waits for a retry" : nil
  }

  var reasonAgainstFilter: String? {
    switch focus {
    case .feed, .writes, .detail: nil
    case .collections: selectedCollection == nil ? "no collection is selected" : nil
    case .network: "this pane has no filter"
    }
  }

  var reasonAgainstCopying: String? {
    if selectedKey != nil { return nil }
    if focus == .collections, selectedCollection != nil { return nil }
    return focus == .feed && feed.selected != nil ? nil : "nothing is selected"
  }

  var reasonAgainstCancelling: String? {
    guard let selected = writes.selected else { return "no write is waiting" }
    if !writes.marked.isEmpty { return nil }
    if case .acknowledged = selected.outcome { return "\(selected.batch) is acknowledged" }
    let isInFlight = !selected.isFinished && selected.write.state == .inFlight
    return isInFlight ? "\(selected.batch) is in flight: it may already have been applied" : nil
  }
}
