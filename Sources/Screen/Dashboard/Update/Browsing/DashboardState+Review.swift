// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreClientState
import FirestoreModel

/// Reviews of the collections. Listeners report the documents on the screen, but not those that others add or delete
/// elsewhere; so collections are listed and counted again: every minute, and more often while that finds changes.
extension DashboardState {
  /// The least number of seconds between two reviews: counting a database of Google's costs money.
  private var reviewPace: Int64 { configuration.backend.kind == .cloud ? 60 : 10 }

  /// The time of the next review; `nil` while offline, before the first list, with another program's client, or where the
  /// backend tells of every commit.
  var dueReview: Timestamp? {
    network.isOffline || configuration.attached != nil || browser.hearsCommits ? nil : browser.nextReview
  }

  /// The number of seconds between two attempts to list the collections of a server that is out of reach.
  private static let retryPace: Int64 = 5

  /// The tick for a review; a quiet dashboard waits for the tick of the minute.
  var nextReviewTick: Timestamp? { browser.hasNewsFromOthers || browser.rootsOutage != nil ? dueReview : nil }

  /// Keeps the reason why the collections were not listed. A server that is out of reach is asked again soon: without a
  /// listener or a write no stream would find out that it is back.
  mutating func noteUnlisted(_ failure: RPCStatus) {
    browser.rootsFailure = failure
    if browser.rootsOutage != nil { browser.nextReview = now.advanced(seconds: Self.retryPace) }
  }

  /// Begins the reviews after the collections were listed for the first time.
  mutating func beginReviews() {
    if browser.nextReview == nil { browser.nextReview = now.advanced(seconds: reviewPace) }
  }

  mutating func takeDueReview() -> [Effect] {
    guard let due = dueReview, due <= now else { return [] }
    if browser.rootsOutage != nil { return listAgain() }
    browser.nextReview = now.advanced(seconds: reviewPace)
    browser.hasNewsFromOthers = false
    let counted = browser.windows.values.filter { $0.total != nil && !$0.isWhole }.map(\.path)
    for path in counted where !isCountedByListener(path) { browser.recounts[path] = now }
    return [.client(.listCollections(below: .root))]
  }

  /// Lists the collections of a server that was out of reach. The answer sets the time of the next attempt.
  mutating func listAgain() -> [Effect] {
    browser.nextReview = nil
    return [.client(.listCollections(below: .root))]
  }
}
