// SPDX-License-Identifier: Apache-2.0
package import TerminalCanvas

/// A line of text in several colors, built from left to right. A line that is too long ends with an ellipsis.
package struct Line {
  private struct Span {
    /// The text. `nil` skips columns and leaves the canvas unchanged there.
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

  /// Skips to a column. Does nothing if the line is already longer.
  package mutating func skip(to column: Int) { skip(column - width) }

  /// Adds text in a column of a fixed width, shortened if needed.
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

/// Shortens paths for narrow columns. The end of a path identifies a document, so the middle is removed first, then the
/// beginning. A single long id is shortened in the middle: its beginning determines the sort position, so some of it
/// remains.
package enum PathText {
  /// A path that fits a width: `chat/lobby/messages/m0912` → `chat/lobby/…/m0912` → `chat/…/m0912` → `…/m0912` →
  /// `m0912` → `…912`; `1nb…uilkBJ`.
  package static func fitted(_ path: String, to width: Int, _ ellipsis: String) -> String {
    if SafeText.columns(of: path) <= width { return path }
    let segments = path.split(separator: "/", omittingEmptySubsequences: false)
    guard let last = segments.last, segments.count > 1 else { return end(of: path, to: width, ellipsis) }
    for kept in stride(from: segments.count - 2, through: 0, by: -1) {
      let head = segments.prefix(kept).map { $0 + "/" }.joined()
      let candidate = head + ellipsis + "/" + last
      if SafeText.columns(of: candidate) <= width { return candidate }
    }
    return end(of: String(last), to: width, ellipsis)
  }

  /// The last segment of a path, or only its end.
  package static func last(_ path: String, to width: Int, _ ellipsis: String) -> String {
    end(of: path.split(separator: "/").last.map(String.init) ?? path, to: width, ellipsis)
  }

  private static func end(of text: String, to width: Int, _ ellipsis: String) -> String {
    if SafeText.columns(of: text) <= width { return text }
    guard width > 1 else { return SafeText.truncated(text, to: width, ellipsis: ellipsis) }
    // The end of an identifier is more distinctive: consecutive generated ones share their beginnings.
    var head = ""
    var tail = ""
    var used = 1
    if width >= 8 {
      for character in text {
        let columns = SafeText.columns(of: String(character))
        if used + columns > 1 + (width - 1) / 3 { break }
        used += columns
        head.append(character)
      }
    }
    for character in text.reversed() {
      used += SafeText.columns(of: String(character))
      if used > width { break }
      tail.insert(character, at: tail.startIndex)
    }
    return head + ellipsis + tail
  }
}

/// Text that is broken into lines between words.
package enum WrappedText {
  /// Lines of at most `width` columns. A longer word is cut.
  package static func lines(_ text: String, width: Int, _ ellipsis: String) -> [String] {
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ") {
      let candidate = line.isEmpty ? String(word) : line + " " + word
      if SafeText.columns(of: candidate) <= width {
        line = candidate
      } else {
        if !line.isEmpty { lines.append(line) }
        line = SafeText.truncated(String(word), to: width, ellipsis: ellipsis)
      }
    }
    return line.isEmpty ? lines : lines + [line]
  }
}

extension Canvas {
  /// Highlights the matches of a filter in the drawn rows.
  package mutating func mark(hitsOf filter: RowFilter?, in area: Rect) {
    guard let filter, !filter.isEmpty else { return }
    let area = bounds.intersection(area)
    for y in area.y..<area.maxY {
      var text: [Unicode.Scalar] = []
      var columns: [Int] = []
      for (x, cell) in zip(area.x..<area.maxX, row(y).dropFirst(area.x)) {
        for scalar in cell.cluster.scalars {
          text.append(scalar)
          columns.append(x)
        }
      }
      for hit in filter.hits(in: text) {
        guard let first = columns[hit].first, let last = columns[hit].last else { continue }
        apply(role: .match, to: Rect(x: first, y: y, width: last - first + max(1, self[last, y].width), height: 1))
      }
    }
  }
}
