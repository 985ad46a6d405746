// SPDX-License-Identifier: Apache-2.0

/// The lines around panes and dialogs.
package enum BorderStyle: String, CaseIterable, Codable, Hashable, Sendable {
  case rounded, single, none, ascii
}

extension Glyphs {
  /// The same signs with other lines. A set of ASCII signs has none beyond ASCII.
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

  /// Draws the outline of a rectangle; nothing when it is smaller than 2×2.
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
