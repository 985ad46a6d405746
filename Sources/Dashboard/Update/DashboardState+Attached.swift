// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel

/// What a program tells whose client this shows.
extension DashboardState {
  /// The program stopped a listener: its rows stay.
  mutating func receive(stopped tag: ListenerTag) {
    guard let removed = listening.remove(tag) else { return }
    if feed.onlyListener == tag { feed.onlyListener = nil }
    noteReconnection { $0.forget(tag) }
    let who = configuration.attached?.name ?? "the program"
    var row = FeedRow(time: now, kind: .synced, listener: tag, listenerName: removed.name, summary: "")
    row.summary = "\(who) stopped listening"
    row.isLocal = true
    feed.append(row)
  }

  /// What listeners have, whatever was told of the way there.
  mutating func receive(missed count: Int, _ results: [ListenerTag: ListenerState.Result]) {
    for (tag, result) in results { listening.note(result, of: tag) }
    guard count > 0 else { return }
    attachment.miss(count)
    let what = "\(grouped(count)) snapshot\(count == 1 ? "" : "s")"
    feed.append(
      FeedRow(time: now, kind: .divider, summary: "missed \(what): \(configuration.attached?.name ?? "it") goes first"))
    feed.countEvents(count, at: now)
  }

  /// The screen stays, to be looked at.
  mutating func endAttachment(_ reason: String) {
    guard attachment.end(because: reason) else { return }
    feed.append(FeedRow(time: now, kind: .divider, summary: reason))
    toast(.error, "\(reason). The screen shows what was last known; q quits.")
  }
}
