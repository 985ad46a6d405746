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

  /// The tick for a review; a quiet dashboard waits for the tick of the minute.
  var nextReviewTick: Timestamp? { browser.hasNewsFromOthers ? dueReview : nil }

  /// Begins the reviews after the collections were listed for the first time.
  mutating func beginReviews() {
    if browser.nextReview == nil { browser.nextReview = now.advanced(seconds: reviewPace) }
  }

  mutating func takeDueReview() -> [Effect] {
    guard let due = dueReview, due <= now else { return [] }
    browser.nextReview = now.advanced(seconds: reviewPace)
    browser.hasNewsFromOthers = false
    let counted = browser.windows.values.filter { $0.total != nil && !$0.isWhole }.map(\.path)
    for path in counted where !isCountedByListener(path) { browser.recounts[path] = now }
    return [.client(.listCollections(below: .root))]
  }
}
