// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// What the screen has cost the terminal's line so far.
package struct TerminalTraffic: Codable, Hashable, Sendable {
  package var bytes: Int
  package var frames: Int

  package init(bytes: Int, frames: Int) {
    self.bytes = bytes
    self.frames = frames
  }
}

extension DashboardState {
  /// How often the figures on the screen follow, in seconds: they are on the line themselves.
  private static let trafficInterval: Int64 = 10

  mutating func note(_ traffic: TerminalTraffic, at time: Timestamp) {
    if let last = trafficTime, time >= last, time.wholeSeconds(since: last) < Self.trafficInterval { return }
    (self.traffic, trafficTime) = (traffic, time)
  }
}
