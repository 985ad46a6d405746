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
    let lines = DetailContent.lines(of: detail, in: self)
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

  /// How many of the open document's lines match.
  var matchCount: (matching: Int, all: Int) {
    guard let detail else { return (0, 0) }
    let lines = DetailContent.lines(of: detail, in: self)
    return (lines.count { detail.search.matches($0.searchText) }, lines.count)
  }
}

extension DetailContent.Line {
  /// Everything that a search looks at.
  var searchText: String {
    switch content {
    case .field(let field):
      field.path.joined(separator: ".") + " " + ((field.local ?? field.server).map(ValueText.short) ?? "")
    case .change(let change):
      change.path.segments.joined(separator: ".") + " "
        + [change.old, change.new].compactMap { $0.map(ValueText.short) }.joined(separator: " ")
    case .version(let row): row.searchText
    case .layers(let name, let server, let queued, let seen):
      [name, server.map(ValueText.short), queued, seen.map(ValueText.short)].compactMap(\.self).joined(separator: " ")
    case .fact(let name, let text): name + " " + text
    case .note(let text): text
    // It belongs to the line above, which is found.
    case .rest: ""
    }
  }
}
