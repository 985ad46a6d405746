// SPDX-License-Identifier: Apache-2.0

/// News that may wait for the frame that shows it. It happens in the order in which it came: a status that waited must
/// never follow, and undo, a newer one that did not.
@MainActor
final class HeldNews<News> {
  private var waiting: [News] = []
  private var isHappening = false
  private let happen: (News) -> Void

  /// - Parameter happen: applies news; other news that it causes waits for its turn.
  init(happen: @escaping (News) -> Void) { self.happen = happen }

  var isEmpty: Bool { waiting.isEmpty }

  /// Puts news behind that which waits, and lets all of it happen unless it is held.
  func take(_ news: News, isHeld: Bool) {
    waiting.append(news)
    if !isHeld { release() }
  }

  /// Lets everything that waits happen.
  func release() {
    if isHappening { return }
    isHappening = true
    defer { isHappening = false }
    while !waiting.isEmpty { happen(waiting.removeFirst()) }
  }
}
