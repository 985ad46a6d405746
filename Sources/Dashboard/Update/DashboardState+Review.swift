// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel

/// A listener tells what becomes of the documents on the screen; what others add or delete elsewhere nobody tells. So
/// collections are listed and counted again: every minute, and more often while that finds something.
extension DashboardState {
  /// At most once in so many seconds: counting a database of Google's costs money.
  private var reviewPace: Int64 { configuration.backend.kind == .cloud ? 60 : 10 }

  /// `nil` while nobody could answer, or nothing was asked yet. Another program is asked nothing by itself.
  var dueReview: Timestamp? {
    network.isOffline || configuration.attached != nil ? nil : browser.nextReview
  }

  /// Waits for the tick of the minute unless something is going on.
  var nextReviewTick: Timestamp? { browser.hasNewsFromOthers ? dueReview : nil }

  /// The collections were listed for the first time.
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
