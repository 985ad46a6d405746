// SPDX-License-Identifier: Apache-2.0

/// The symbols for drawing, in Unicode and in plain ASCII. Each symbol is one column wide unless stated otherwise.
///
/// Use ASCII for locales without UTF-8, for fonts without box-drawing characters, and for screen readers.
package struct Glyphs: Hashable, Sendable {
  package var topLeft, topRight, bottomLeft, bottomRight: String
  package var horizontal, vertical: String
  /// The characters that join a horizontal line in a box to the box's left and right sides.
  package var leftTee, rightTee: String
  package var dashedHorizontal: String
  /// The mark in the gutter of the selected row.
  package var cursor: String
  package var caret: String
  package var folded, unfolded: String
  package var online, offline, listening, listeningInPart, listeningFromCache: String
  package var pending: String
  package var follow: String
  /// The mark of a paused list; two columns in both sets.
  package var paused: String
  package var enter: String
  package var related: String
  package var ellipsis: String
  package var arrow: String
  /// The signs of the sort order, shown after the name of the column.
  package var ascending, descending: String
  /// The sign before an upper bound; two columns in both sets.
  package var atMost: String
  package var check, cross: String
  package var scrollThumb, scrollTrack: String
  package var barFull, barOutage: String
  package var bullet: String
  package var conflict: String
  package var dash: String
  /// The bars from lowest to highest; eight steps in Unicode, five in ASCII.
  package var sparkline: [String]

  package static let unicode = Glyphs(
    topLeft: "╭", topRight: "╮", bottomLeft: "╰", bottomRight: "╯", horizontal: "─", vertical: "│", leftTee: "├",
    rightTee: "┤", dashedHorizontal: "╌", cursor: "▌", caret: "▏", folded: "▸", unfolded: "▾", online: "●",
    offline: "○",
    listening: "◉", listeningInPart: "◔", listeningFromCache: "◌", pending: "⇡", follow: "▶", paused: "❙❙", enter: "⏎",
    related: "┃",
    ellipsis: "…", arrow: "→", ascending: "▲", descending: "▼", atMost: "≤ ", check: "✓", cross: "✗",
    scrollThumb: "█",
    scrollTrack: "│", barFull: "█", barOutage: "▒",
    bullet: "·", conflict: "×", dash: "—", sparkline: ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"])

  package static let ascii = Glyphs(
    topLeft: "+", topRight: "+", bottomLeft: "+", bottomRight: "+", horizontal: "-", vertical: "|", leftTee: "+",
    rightTee: "+", dashedHorizontal: "-", cursor: ">", caret: "_", folded: "+", unfolded: "-", online: "*",
    offline: "o",
    listening: "@", listeningInPart: "%", listeningFromCache: "c", pending: "^", follow: ">", paused: "||", enter: "<",
    related: "!",
    ellipsis: "~", arrow: ">", ascending: "^", descending: "v", atMost: "<=", check: "y", cross: "x",
    scrollThumb: "#",
    scrollTrack: ":", barFull: "#", barOutage: ".",
    bullet: ".", conflict: "x", dash: "-", sparkline: ["_", ".", "-", "=", "#"])

  /// The symbols for texts that a screen reader reads aloud. Words replace the signs.
  package static let spoken: Glyphs = {
    var glyphs = Glyphs.unicode
    glyphs.arrow = " to "
    glyphs.bullet = "and"
    glyphs.ellipsis = "..."
    glyphs.atMost = "at most "
    return glyphs
  }()

  /// A bar chart of one column per value. The highest value gets the highest glyph, zero the lowest.
  package func sparkline(_ values: some Collection<Double>) -> String {
    let highest = values.reduce(0) { $1.isFinite ? max($0, $1) : $0 }
    return values.map { value in
      guard highest > 0, value.isFinite, value > 0 else { return sparkline[0] }
      let step = Int((value / highest * Double(sparkline.count - 1)).rounded())
      return sparkline[min(max(step, 0), sparkline.count - 1)]
    }.joined()
  }
}

extension Glyphs {
  private static let eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]

  /// One row of a graph that has several rows. Only the lowest row, part 0, shows the value zero.
  /// - Parameter levels: the heights of the columns in steps. A row has as many steps as there are sparkline signs.
  package func graph(_ levels: some Collection<Int>, part: Int) -> String {
    levels.map { level in
      let step = level - part * sparkline.count
      return part > 0 && step <= 0 ? " " : sparkline[min(max(step, 0), sparkline.count - 1)]
    }.joined()
  }

  /// A horizontal bar. Its length has steps of an eighth of a column if the set has symbols for them. The maximum fills
  /// the width, and any count above zero is visible.
  package func bar(_ count: Int, of most: Int, width: Int) -> String {
    guard count > 0, most > 0, width > 0 else { return "" }
    let eighths = max(1, min(width * 8, Int((Double(count) / Double(most) * Double(width) * 8).rounded())))
    guard sparkline.count == 8 else { return String(repeating: barFull, count: max(1, (eighths + 4) / 8)) }
    return String(repeating: barFull, count: eighths / 8) + Self.eighths[eighths % 8]
  }
}

/// The lines around panes and dialogs.
package enum BorderStyle: String, CaseIterable, Hashable, Sendable {
  case rounded, single, none, ascii
}

extension Glyphs {
  /// The glyphs with another border style. An ASCII set has only ASCII borders.
  package func bordered(_ style: BorderStyle) -> Glyphs {
    let isASCII = self == .ascii
    var glyphs = self
    func take(_ corners: [String], _ horizontal: String, _ vertical: String, _ tees: [String]) {
      (glyphs.topLeft, glyphs.topRight, glyphs.bottomLeft, glyphs.bottomRight) = (
        corners[0], corners[1], corners[2], corners[3]
      )
      (glyphs.horizontal, glyphs.vertical) = (horizontal, vertical)
      (glyphs.leftTee, glyphs.rightTee) = (tees[0], tees[1])
    }
    switch style {
    case .none: take([" ", " ", " ", " "], " ", " ", [" ", " "])
    case .ascii: take(["+", "+", "+", "+"], "-", "|", ["+", "+"])
    case .single: if !isASCII { take(["┌", "┐", "└", "┘"], "─", "│", ["├", "┤"]) }
    case .rounded: if !isASCII { take(["╭", "╮", "╰", "╯"], "─", "│", ["├", "┤"]) }
    }
    return glyphs
  }
}

extension Canvas {
  /// Draws `width` copies of a one-column glyph to the right.
  package mutating func horizontalLine(
    at point: Point, width: Int, glyphs: Glyphs = .unicode, role: Role = .border, clip: Rect? = nil
  ) {
    repeatGlyph(glyphs.horizontal, over: Rect(x: point.x, y: point.y, width: width, height: 1), role: role, clip: clip)
  }

  /// Draws `height` copies of a one-column glyph downwards.
  package mutating func verticalLine(
    at point: Point, height: Int, glyphs: Glyphs = .unicode, role: Role = .border, clip: Rect? = nil
  ) {
    repeatGlyph(glyphs.vertical, over: Rect(x: point.x, y: point.y, width: 1, height: height), role: role, clip: clip)
  }

  /// Draws the outline of a rectangle. Does nothing if it is smaller than 2×2.
  package mutating func box(_ rect: Rect, glyphs: Glyphs = .unicode, role: Role = .border, clip: Rect? = nil) {
    guard rect.width >= 2, rect.height >= 2 else { return }
    let right = rect.maxX - 1
    let bottom = rect.maxY - 1
    horizontalLine(at: rect.origin, width: rect.width, glyphs: glyphs, role: role, clip: clip)
    horizontalLine(at: Point(x: rect.x, y: bottom), width: rect.width, glyphs: glyphs, role: role, clip: clip)
    verticalLine(at: rect.origin, height: rect.height, glyphs: glyphs, role: role, clip: clip)
    verticalLine(at: Point(x: right, y: rect.y), height: rect.height, glyphs: glyphs, role: role, clip: clip)
    put(glyphs.topLeft, at: rect.origin, role: role, clip: clip)
    put(glyphs.topRight, at: Point(x: right, y: rect.y), role: role, clip: clip)
    put(glyphs.bottomLeft, at: Point(x: rect.x, y: bottom), role: role, clip: clip)
    put(glyphs.bottomRight, at: Point(x: right, y: bottom), role: role, clip: clip)
  }

  private mutating func repeatGlyph(_ glyph: String, over rect: Rect, role: Role, clip: Rect?) {
    var area = bounds.intersection(rect)
    if let clip { area = area.intersection(clip) }
    for y in area.y..<area.y + area.height {
      for x in area.x..<area.x + area.width { put(glyph, at: Point(x: x, y: y), role: role, maxWidth: 1) }
    }
  }
}
