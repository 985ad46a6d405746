// SPDX-License-Identifier: Apache-2.0
package import DashboardModel
import FirestoreClientState
package import FirestoreModel
import TerminalCanvas

extension DashboardState {
  /// The time until the network comes back by itself, `back in 0:18`; `nil` if it does not.
  package var returnText: String? {
    guard let networkReturn = outages.networkReturn, network.isOffline, !network.isNetworkEnabled else { return nil }
    // The current second counts as a whole one.
    let left = networkReturn.milliseconds(since: now)
    return "back in " + TimeText.elapsed(seconds: (left + 999) / 1000)
  }

  /// The time of day at which the server was back.
  package func clock(of reconnection: Reconnection) -> String {
    TimeText.clock(reconnection.end ?? reconnection.start, offset: configuration.utcOffset)
  }

  /// The number of rows that the card of a reconnection takes from the feed.
  func cardHeight(_ layout: Layout) -> Int {
    guard outages.card != nil, !showsRequests, layout.panes[.feed] != nil else { return 0 }
    let height = layout.content(of: .feed).height
    return layout.layoutClass.isTiled && height >= 8 ? 3 : height >= 4 ? 1 : 0
  }

  /// Whether no target is watched and no write is pending: then no stream could tell whether the backend is there.
  package var isIdle: Bool {
    network.onlineState == .unknown && network.isNetworkEnabled
      && network.watch.state == .closed && network.write.state == .closed && network.activeTargets == 0
  }

  /// The failure of the list of collections, where it alone tells that the server is out of reach.
  package var idleOutage: RPCStatus? { isIdle && !attachment.isOver ? browser.rootsOutage : nil }

  /// The connection's failure in words, whatever found it; `nil` if there is none.
  package var connectionTrouble: String? { network.trouble ?? idleOutage?.description }

  /// The time of the next attempt to reach the server; `nil` unless one is being waited for.
  package var nextAttempt: Timestamp? { network.nextRetry ?? (idleOutage == nil ? nil : dueReview) }

  /// The length of the present outage, `0:42`; `nil` while online.
  package var outageText: String? {
    guard network.isOffline, !attachment.isOver else { return nil }
    let start = outages.start ?? network.since
    return TimeText.elapsed(seconds: now.wholeSeconds(since: start))
  }
}
