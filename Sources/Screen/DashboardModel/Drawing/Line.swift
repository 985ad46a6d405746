// SPDX-License-Identifier: Apache-2.0
package import TerminalCanvas

/// Text in several roles, built from left to right; a line that is too long is drawn with an ellipsis at its end.
package struct Line {
  private struct Span {
    /// The text; `nil` leaves the canvas as it is.
    var text: String?
    var role: Role
    var attributes: Attributes
    package var width: Int
  }

  private var spans: [Span] = []
  package private(set) var width = 0
  private let ellipsis: String

  package init(_ glyphs: Glyphs) { ellipsis = glyphs.ellipsis }

  package var isEmpty: Bool { width == 0 }

  package mutating func add(_ text: String, _ role: Role = .text, _ attributes: Attributes = []) {
    let columns = SafeText.columns(of: text)
    guard columns > 0 else { return }
    spans.append(Span(text: text, role: role, attributes: attributes, width: columns))
    width += columns
  }

  package mutating func add(_ line: Line) {
    spans += line.spans
    width += line.width
  }

  package mutating func skip(_ columns: Int) {
    guard columns > 0 else { return }
    spans.append(Span(text: nil, role: .text, attributes: [], width: columns))
    width += columns
  }

  /// Skips to a column; nothing when the line is longer already.
  package mutating func skip(to column: Int) { skip(column - width) }

  /// Text in a column of a fixed width, shortened if need be.
  package mutating func cell(_ text: String, _ role: Role = .text, width columns: Int, right: Bool = false) {
    guard columns > 0 else { return }
    let shown = SafeText.truncated(text, to: columns, ellipsis: ellipsis)
    let used = SafeText.columns(of: shown)
    if right { skip(columns - used) }
    add(shown, role)
    if !right { skip(columns - used) }
  }

  fileprivate func draw(on canvas: inout Canvas, at point: Point, room: Int) {
    var x = point.x
    let end = point.x + room
    for span in spans {
      guard let text = span.text else {
        x += span.width
        continue
      }
      if x >= end {
        canvas.put(ellipsis, at: Point(x: end - 1, y: point.y), role: .textMuted, maxWidth: 1)
        return
      }
      let fits = x + span.width <= end
      let shown = fits ? text : SafeText.truncated(text, to: end - x, ellipsis: ellipsis)
      canvas.put(
        shown, at: Point(x: x, y: point.y), role: span.role, attributes: span.attributes, maxWidth: end - x)
      if !fits { return }
      x += span.width
    }
  }
}

extension Canvas {
  /// Draws a line into `width` columns.
  package mutating func put(_ line: Line, x: Int, y: Int, width: Int) {
    guard width > 0 else { return }
    line.draw(on: &self, at: Point(x: x, y: y), room: width)
  }
}
