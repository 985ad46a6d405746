// SPDX-License-Identifier: Apache-2.0
package import DashboardModel
import FirestoreClientState
package import FirestoreModel
import TerminalCanvas

extension DashboardState {
  /// The time until the network is switched on automatically, as in `back in 0:18`; `nil` if that is not scheduled.
  package var returnText: String? {
    guard let networkReturn = outages.networkReturn, network.isOffline, !network.isNetworkEnabled else { return nil }
    // The current second counts as a whole one.
    let left = networkReturn.milliseconds(since: now)
    return "back in " + TimeText.elapsed(seconds: (left + 999) / 1000)
  }

  /// The time of day when the server was reachable again.
  package func clock(of reconnection: Reconnection) -> String {
    TimeText.clock(reconnection.end ?? reconnection.start, offset: configuration.utcOffset)
  }

  /// The count of feed rows that the summary of a reconnection covers.
  func cardHeight(_ layout: Layout) -> Int {
    guard outages.card != nil, !showsRequests, layout.panes[.feed] != nil else { return 0 }
    let height = layout.content(of: .feed).height
    return layout.layoutClass.isTiled && height >= 8 ? 3 : height >= 4 ? 1 : 0
  }

  /// Whether the client has neither active targets nor pending writes. In this state it has no open stream that could
  /// detect whether the backend is reachable.
  package var isIdle: Bool {
    network.onlineState == .unknown && network.isNetworkEnabled
      && network.watch.state == .closed && network.write.state == .closed && network.activeTargets == 0
  }

  /// The error that occurred when the collections were listed, if no open stream shows that the server is unreachable.
  package var idleOutage: RPCStatus? { isIdle && !attachment.isOver ? browser.rootsOutage : nil }

  /// The connection's error as text, from any source; `nil` without an error.
  package var connectionTrouble: String? { network.trouble ?? idleOutage?.description }

  /// The time of the next connection attempt; `nil` unless one is scheduled.
  package var nextAttempt: Timestamp? { network.nextRetry ?? (idleOutage == nil ? nil : dueReview) }

  /// The length of the current outage, `0:42`; `nil` while online.
  package var outageText: String? {
    guard network.isOffline, !attachment.isOver else { return nil }
    let start = outages.start ?? network.since
    return TimeText.elapsed(seconds: now.wholeSeconds(since: start))
  }
}
