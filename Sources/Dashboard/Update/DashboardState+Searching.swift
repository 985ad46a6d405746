// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

extension DashboardState {
  /// Searches the open document's lines for words, from the line on that was selected when the search began.
  mutating func search(_ text: String) {
    detail?.search = WordFilter(text)
    moveToMatch(.here)
  }

  enum MatchDirection { case here, next, previous }

  /// Selects a line that matches, going round at the ends.
  mutating func moveToMatch(_ direction: MatchDirection) {
    guard let detail, !detail.search.isEmpty else { return }
    let lines = detailLines
    let count = lines.count
    guard count > 0 else { return }
    let start = min(direction == .here ? detail.searchStart : detail.cursor.index, count - 1)
    let order: [Int] =
      switch direction {
      case .here: (0..<count).map { (start + $0) % count }
      case .next: (1...count).map { (start + $0) % count }
      case .previous: (1...count).map { (start - $0 + count) % count }
      }
    guard let found = order.first(where: { detail.search.matches(lines[$0].searchText) }) else {
      if direction == .here {
        self.detail?.cursor.select(index: start, in: lines.map(\.id))
      } else {
        toast(.info, "nothing matches \(detail.search.text)")
      }
      return
    }
    self.detail?.cursor.select(index: found, in: lines.map(\.id))
  }
}
