// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreClientState
import FirestoreModel
import TerminalCanvas

extension DashboardState {
  /// Begins the account of the events after an outage, in the feed's last row.
  mutating func beginReconnection(from start: Timestamp) {
    guard let row = feed.rows.last?.id else { return }
    let behind = listeners.filter { $0.failure == nil && $0.count != nil }.map(\.tag)
    let reconnection = Reconnection(
      row: row, from: start, to: now, waited: writes.waiting, newest: writes.live.last?.batch, listeners: Set(behind))
    outages.begin(reconnection)
    tell(reconnection)
  }

  /// Changes the account that goes on, and the row that tells it.
  mutating func noteReconnection(_ change: (inout Reconnection) -> Void) {
    guard !network.isOffline, let reconnection = outages.changeLast(change) else { return }
    tell(reconnection)
  }

  private mutating func tell(_ reconnection: Reconnection) {
    let clock = TimeText.clock(reconnection.end, offset: configuration.utcOffset)
    feed.retell(reconnection.row, as: reconnection.text(clock: clock, bullet: configuration.glyphs.bullet))
  }
}
