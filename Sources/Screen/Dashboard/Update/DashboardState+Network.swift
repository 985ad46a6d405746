// SPDX-License-Identifier: Apache-2.0
package import ClientPort
package import DashboardModel
import FirestoreClientState
package import FirestoreModel
import FirestoreText
import TerminalCanvas

extension DashboardState {
  /// Performs a request that was typed.
  package mutating func perform(_ typed: TypedRequest) -> [Effect] {
    switch typed {
    case .request(let request): [.client(request)]
    case .fault(let change): cause(change)
    case .drop(let batch): request(dropping: batch).map { [.client($0)] } ?? []
    }
  }

  /// The request that cancels a pending write or forgets a rejected one; `nil` if there is no such write.
  package func request(dropping batch: BatchID) -> ClientRequest? {
    if writes.live.contains(where: { $0.batch == batch }) { return .cancelWrite(batch) }
    return writes.rejected.contains { $0.batch == batch } ? .dropRejected([batch]) : nil
  }

  /// Switches the network off. After the given duration, it is switched on again automatically.
  mutating func goOffline(for duration: Duration?) -> [Effect] {
    outages.scheduleReturn(
      at: duration.map { Timestamp(microseconds: now.microseconds + TimeText.wholeMilliseconds($0) * 1000) })
    guard network.isNetworkEnabled else {
      toast(.info, duration.map { "still offline; online again after \(DurationText.text($0))" } ?? "already offline")
      return []
    }
    return [.client(.setNetwork(enabled: false))]
  }

  /// The effect that switches the network on again after `goOffline`, if it is due.
  mutating func takeNetworkReturn() -> [Effect] {
    guard outages.takeReturn(at: now) else { return [] }
    return network.isNetworkEnabled ? [] : [.client(.setNetwork(enabled: true))]
  }
}

extension DashboardState {
  /// Records the end of an outage. The summary of the outage is updated until all pending writes are acknowledged or
  /// rejected.
  mutating func endOutage(_ outage: OnlineHistory.Outage) {
    let live = listeners.filter { $0.failure == nil && $0.count != nil }
    let behind = Set(live.filter(\.isFromCache).map(\.tag))
    let next = (feed.rows.last?.id ?? 0) + 1
    outages.end(outage) { [now, writes] in
      $0.cameBack(
        at: now, waiting: writes.waiting, newest: writes.live.last?.batch, behind: behind, listeners: live.count)
      $0.noteRow(next)
    }
    tellReconnection()
  }

  /// Records that the next feed row belongs to a reconnection that the client has not reported yet.
  mutating func noteEarlyRow() {
    let next = (feed.rows.last?.id ?? 0) + 1
    _ = outages.changeLast { if $0.end == nil { $0.noteRow(next) } }
  }

  /// Updates the summary of the current reconnection, and the feed row that shows it.
  mutating func noteReconnection(_ change: (inout Reconnection) -> Void) {
    guard let reconnection = outages.changeLast(change) else { return }
    if let row = reconnection.row { feed.retell(row, as: text(of: reconnection)) }
    tellReconnection()
  }

  /// Adds the feed row that summarizes a finished reconnection, after all rows that the reconnection caused.
  mutating func tellReconnection() {
    guard let reconnection = outages.untold(at: now) else { return }
    feed.append(FeedRow(time: now, kind: .divider, summary: text(of: reconnection)))
    guard let row = feed.rows.last?.id else { return }
    _ = outages.changeLast { $0.tell(in: row) }
  }

  private func text(of reconnection: Reconnection) -> String {
    reconnection.text(clock: clock(of: reconnection), bullet: configuration.glyphs.bullet)
  }

  /// Limits the feed to the rows of a reconnection.
  mutating func showOnly(_ reconnection: Reconnection) {
    guard let first = reconnection.firstRow else { return }
    feed.follow()
    feed.onlySpan = FeedSpan(
      first: first, last: reconnection.row, name: "reconnection \(clock(of: reconnection))")
  }

  /// Dismisses the reconnection's summary when a key is pressed. If the key is `enter` in the feed, the feed then shows
  /// only the rows of that reconnection.
  /// - Returns: whether the key was `enter` in the feed.
  mutating func answerCard(_ key: Key) -> Bool {
    guard let card = outages.card else { return false }
    outages.dismissCard()
    guard overlay == nil, focus == .feed, !showsRequests, key == Key(.enter) else { return false }
    showOnly(card)
    return true
  }
}
