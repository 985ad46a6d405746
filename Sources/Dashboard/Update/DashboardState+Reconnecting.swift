// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import TerminalCanvas

extension DashboardState {
  /// So many are kept for their details.
  private static let mostReconnections = 32

  /// Begins the account of what happens after an outage, in the feed's last row.
  mutating func beginReconnection(from start: Timestamp) {
    guard let row = feed.rows.last?.id else { return }
    let behind = listeners.filter { $0.failure == nil && $0.count != nil }.map(\.tag)
    reconnections.append(
      Reconnection(
        row: row, from: start, to: now, waited: writes.waiting, newest: writes.live.last?.batch,
        listeners: Set(behind)))
    if reconnections.count > Self.mostReconnections { reconnections.removeFirst() }
    tellReconnection()
  }

  /// Changes the account that goes on, and the row that tells it.
  mutating func noteReconnection(_ change: (inout Reconnection) -> Void) {
    guard let last = reconnections.indices.last, !network.isOffline else { return }
    change(&reconnections[last])
    tellReconnection()
  }

  private mutating func tellReconnection() {
    guard let reconnection = reconnections.last else { return }
    let clock = TimeText.clock(reconnection.end, offset: configuration.utcOffset)
    feed.retell(reconnection.row, as: reconnection.text(clock: clock, bullet: configuration.glyphs.bullet))
  }
}
