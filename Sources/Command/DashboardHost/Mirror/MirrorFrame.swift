// SPDX-License-Identifier: Apache-2.0
import TerminalCanvas

// The messages of a dashboard to those who look at its screen, one JSON object to a line: a greeting, then a frame for
// each screen that differs from the one before.

/// The first line.
struct MirrorGreeting: Codable, Hashable, Sendable {
  static let currentVersion = 1

  var hearthMirror = Self.currentVersion
  var process: Int32
  var name: String
  var project: String
}

/// The rows of a screen that have changed; all of them if the size has.
struct MirrorFrame: Codable, Hashable, Sendable {
  struct Run: Codable, Hashable, Sendable {
    var text: String
    /// The name of the role, as theme files have it.
    var role: String
    var attributes: UInt8
  }

  struct Row: Codable, Hashable, Sendable {
    var y: Int
    var runs: [Run]
  }

  var width: Int
  var height: Int
  var rows: [Row]

  /// - Returns: `nil` if nothing has changed.
  init?(from old: Canvas?, to new: Canvas) {
    let isWhole = old?.size != new.size
    (width, height) = (new.size.width, new.size.height)
    rows = (0..<new.size.height).filter { isWhole || old?.row($0) != new.row($0) }.map { y in
      Row(y: y, runs: Self.runs(new.row(y)))
    }
    if rows.isEmpty, !isWhole { return nil }
  }

  private static func runs(_ cells: ArraySlice<Cell>) -> [Run] {
    var runs: [Run] = []
    for cell in cells {
      let (role, attributes) = (cell.role.rawValue, cell.attributes.rawValue)
      if let last = runs.last, last.role == role, last.attributes == attributes {
        runs[runs.count - 1].text += cell.cluster.text
      } else {
        runs.append(Run(text: cell.cluster.text, role: role, attributes: attributes))
      }
    }
    return runs
  }
}

/// The screen of another dashboard, put together from its frames.
struct MirroredScreen: Sendable {
  private var rows: [Int: [MirrorFrame.Run]] = [:]
  private(set) var size: Size?

  mutating func apply(_ frame: MirrorFrame) {
    let newSize = Size(width: max(0, min(frame.width, Self.most)), height: max(0, min(frame.height, Self.most)))
    if size != newSize { rows = [:] }
    size = newSize
    for row in frame.rows where (0..<newSize.height).contains(row.y) { rows[row.y] = row.runs }
  }

  /// The longest side of a screen that is drawn.
  private static let most = 1000

  /// The screen from its upper left corner on, as far as the viewer's reaches, with a line about it at the end.
  func canvas(_ viewer: Size, note: String) -> Canvas {
    var canvas = Canvas(size: viewer)
    for y in 0..<min(viewer.height, size?.height ?? 0) {
      var x = 0
      for run in rows[y] ?? [] {
        x += canvas.put(
          run.text, at: Point(x: x, y: y), role: Role(rawValue: run.role) ?? .text,
          attributes: Attributes(rawValue: run.attributes), maxWidth: max(0, viewer.width - x))
      }
    }
    let isCut = size.map { $0.width > viewer.width || $0.height > viewer.height } ?? false
    let cut = isCut ? size.map { ", cut from \($0.width)x\($0.height)" } ?? "" : ""
    let text = SafeText.truncated(" \(note)\(cut); q leaves ", to: viewer.width, ellipsis: "~")
    let place = Point(x: max(0, viewer.width - SafeText.columns(of: text)), y: viewer.height - 1)
    canvas.put(text, at: place, role: .headerPaused)
    return canvas
  }
}
