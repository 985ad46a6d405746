// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreClientState
import FirestoreModel

/// The events of the program whose client is shown.
extension DashboardState {
  /// Removes a listener that the program has stopped; its rows stay.
  mutating func receive(stopped tag: ListenerTag) {
    guard let removed = listening.remove(tag) else { return }
    if feed.onlyListener == tag { feed.onlyListener = nil }
    wall.forget(tag)
    noteReconnection { $0.forget(tag) }
    let who = configuration.attached?.owner ?? "the program"
    var row = FeedRow(time: now, kind: .synced, listener: tag, listenerName: removed.name, summary: "")
    row.summary = "\(who) stopped listening"
    row.isLocal = true
    feed.append(row)
  }

  /// Takes over the present results of listeners, some of whose snapshots were not reported.
  mutating func receive(missed count: Int, _ results: [ListenerTag: ListenerState.Result]) {
    for (tag, result) in results { listening.note(result, of: tag) }
    guard count > 0 else { return }
    attachment.miss(count)
    let what = "\(grouped(count)) snapshot\(count == 1 ? "" : "s")"
    feed.append(
      FeedRow(time: now, kind: .divider, summary: "missed \(what): \(configuration.attached?.name ?? "it") goes first"))
    feed.countEvents(count, at: now)
  }

  /// Ends the attachment; the screen stays for viewing.
  mutating func endAttachment(_ reason: String) {
    guard attachment.end(because: reason) else { return }
    feed.append(FeedRow(time: now, kind: .divider, summary: reason))
    toast(.error, "\(reason). The screen shows what was last known; q quits.")
  }
}
