// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreClientState
import FirestoreModel
import FirestoreText

extension DashboardState {
  /// Switches the network off, and on again by itself after a given duration.
  mutating func goOffline(for duration: Duration?) -> [Effect] {
    outages.scheduleReturn(
      at: duration.map { Timestamp(microseconds: now.microseconds + TimeText.wholeMilliseconds($0) * 1000) })
    guard network.isNetworkEnabled else {
      toast(.info, duration.map { "still offline; online again after \(DurationText.text($0))" } ?? "already offline")
      return []
    }
    return [.client(.setNetwork(enabled: false))]
  }

  /// The effect that ends `goOffline`, if it is due.
  mutating func takeNetworkReturn() -> [Effect] {
    guard outages.takeReturn(at: now) else { return [] }
    return network.isNetworkEnabled ? [] : [.client(.setNetwork(enabled: true))]
  }
}
