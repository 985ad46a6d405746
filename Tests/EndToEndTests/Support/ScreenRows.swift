// SPDX-License-Identifier: Apache-2.0

extension TmuxTerminal {
  /// The rows of the feed, from its title on.
  var feed: [String] { Array(lines.drop { !$0.contains("4 Live feed") }.dropFirst()) }

  /// The feed's rows after the line across it that says when the outage began.
  var feedSinceOffline: [String] { Array(feed.drop { !$0.contains("offline ") || !$0.contains("by you") }.dropFirst()) }

  /// The rows that contain all of these.
  func rows(_ parts: String...) -> [String] { lines.filter { line in parts.allSatisfy(line.contains) } }
}

extension String {
  /// Whether this is a feed row about a document that the server changed. Where all rows are the server's, none says so.
  var isServerData: Bool { isFeedRow && !contains(" LOCAL ") && !contains(" CACHE ") && contains(#/ [-+~] /#) }

  /// Whether this is a row of the feed: it begins with a time of day in milliseconds.
  var isFeedRow: Bool { contains(#/^[ ▌] \d\d:\d\d:\d\d\.\d{3} /#) }

  /// The cell in which each `│` stands, by widths that do not come from hearth: the East Asian and emoji blocks that
  /// these tests use are two cells wide, marks and joiners none.
  var borderCells: [Int] {
    var cells: [Int] = []
    var column = 0
    for character in self {
      if character == "│" { cells.append(column) }
      column += character.cells
    }
    return cells
  }

  var cells: Int { reduce(0) { $0 + $1.cells } }
}

extension Character {
  fileprivate var cells: Int {
    unicodeScalars.map { scalar in
      switch scalar.properties.generalCategory {
      case .nonspacingMark, .enclosingMark, .format: 0
      default:
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
          0xFF00...0xFF60, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1F9FF:
          2
        default: 1
        }
      }
    }.max() ?? 0
  }
}
