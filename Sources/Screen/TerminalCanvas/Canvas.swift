// SPDX-License-Identifier: Apache-2.0

/// A grid of cells that views draw on.
///
/// Drawing never fails. Anything outside the canvas, the clip or the width is cut off. Any text is made safe first
/// (`SafeText`). Every row always has exactly `size.width` columns. A wide cluster is followed by its right half, or is
/// replaced by a space.
package struct Canvas: Hashable, Sendable {
  package let size: Size
  /// The cell of the terminal's cursor. The cursor is hidden if this is `nil` or outside of the canvas.
  package var cursor: Point?
  /// The links in drawing order.
  package private(set) var links: [CanvasLink] = []
  private var cells: [Cell]

  /// The maximum size of a canvas. Larger screens are blank outside of it. A terminal can report any 16-bit size.
  package static let maximumSize = Size(width: 2000, height: 1000)

  /// Creates a canvas of blanks in the role `text`. Its size is limited to `maximumSize`.
  package init(size: Size) {
    self.size = Size(
      width: min(size.width, Self.maximumSize.width), height: min(size.height, Self.maximumSize.height))
    cells = Array(repeating: .blank, count: self.size.width * self.size.height)
  }

  package var bounds: Rect { Rect(size: size) }

  /// The cell at a point; a blank outside the canvas.
  package subscript(x: Int, y: Int) -> Cell { bounds.contains(Point(x: x, y: y)) ? cells[y * size.width + x] : .blank }

  /// The cells of one row, from left to right; empty outside the canvas.
  package func row(_ y: Int) -> ArraySlice<Cell> {
    guard y >= 0, y < size.height else { return [] }
    return cells[y * size.width..<(y + 1) * size.width]
  }

  /// Draws text to the right of a point, as far as `maxWidth`, the clip and the canvas allow.
  ///
  /// - Returns: the columns from `point` to the end of the processed text, for chaining calls; at most `maxWidth`. This
  ///   includes text left of the visible part, but not text beyond its right edge.
  @discardableResult
  package mutating func put(
    _ text: String, at point: Point, role: Role = .text, attributes: Attributes = [], maxWidth: Int? = nil,
    clip: Rect? = nil
  ) -> Int {
    let visible = clip.map(bounds.intersection) ?? bounds
    guard point.y >= visible.y, point.y < visible.maxY else {
      return min(SafeText.columns(of: text), max(0, maxWidth ?? .max))
    }
    let limit = min(point.x.saturatingSum(max(0, maxWidth ?? .max)), visible.maxX)
    var x = point.x
    if SafeText.isPlain(text) {
      for byte in text.utf8 {
        guard x < limit else { break }
        if x >= visible.x { place(Cell(cluster: Cluster(ascii: byte), role: role, attributes: attributes), x, point.y) }
        x += 1
      }
      return max(0, x &- point.x)
    }
    for cluster in SafeText(text) {
      guard x < limit else { break }
      let end = x + cluster.width
      if x >= visible.x, end <= limit {
        place(Cell(cluster: cluster, role: role, attributes: attributes), x, point.y)
      } else {
        for column in max(x, visible.x)..<max(min(end, limit), max(x, visible.x)) {
          place(Cell(cluster: .space, role: role, attributes: attributes), column, point.y)
        }
      }
      x = min(end, limit)
    }
    return max(0, x &- point.x)
  }

  /// Fills a rectangle with blanks in a role.
  package mutating func fill(_ rect: Rect, role: Role = .text) {
    let area = bounds.intersection(rect)
    // A link ends where it is covered.
    if !links.isEmpty {
      links.removeAll { area.y..<area.maxY ~= $0.y && $0.columns.overlaps(area.x..<max(area.x, area.maxX)) }
    }
    let blank = Cell(cluster: .space, role: role)
    for y in area.y..<area.y + area.height {
      for x in area.x..<area.x + area.width { place(blank, x, y) }
    }
  }

  /// Sets the role of a rectangle. The text and the additional attributes of its cells do not change.
  package mutating func apply(role: Role, to rect: Rect) {
    restyle(rect) { $0.role = role }
  }

  /// Replaces the roles of cells. Their text and additional attributes do not change.
  package mutating func replaceRoles(_ roles: [Role: Role]) {
    restyle(bounds) { cell in cell.role = roles[cell.role] ?? cell.role }
  }

  /// Adds attributes to the cells in a rectangle. Their text and roles do not change.
  package mutating func apply(attributes: Attributes, to rect: Rect) {
    restyle(rect) { $0.attributes.formUnion(attributes) }
  }

  /// Makes the text in some columns of a row a link. Does nothing if the address is unsafe for a terminal.
  package mutating func link(_ columns: Range<Int>, of y: Int, to address: String) {
    let columns = columns.clamped(to: 0..<size.width)
    guard y >= 0, y < size.height, !columns.isEmpty, CanvasLink.isSafe(address) else { return }
    links.append(CanvasLink(columns: columns, y: y, address: address))
  }

  /// Draws another canvas, without its cursor, with its top left corner at a point.
  package mutating func draw(_ other: Canvas, at point: Point) {
    let area = bounds.intersection(Rect(origin: point, size: other.size))
    for y in area.y..<area.y + area.height {
      for x in area.x..<area.x + area.width {
        let cell = other[x - point.x, y - point.y]
        if cell.width == 2, x + 1 >= area.maxX {
          place(Cell(cluster: .space, role: cell.role, attributes: cell.attributes), x, y)
        } else if cell.width > 0 {
          place(cell, x, y)
        } else if x == area.x {
          place(Cell(cluster: .space, role: cell.role, attributes: cell.attributes), x, y)
        }
      }
    }
  }

  private mutating func restyle(_ rect: Rect, _ change: (inout Cell) -> Void) {
    let area = bounds.intersection(rect)
    for y in area.y..<area.y + area.height {
      for x in area.x..<area.x + area.width { change(&cells[y * size.width + x]) }
    }
  }

  /// Writes a whole cluster inside the canvas. If it overwrites one half of a wide cluster, the other half becomes
  /// blank.
  mutating func place(_ cell: Cell, _ x: Int, _ y: Int) {
    let index = y * size.width + x
    if cells[index].cluster.isContinuation { cells[index - 1].cluster = .space }
    let last = index + cell.width - 1
    if cells[last].width == 2 { cells[last + 1].cluster = .space }
    cells[index] = cell
    if cell.width == 2 {
      cells[index + 1] = Cell(cluster: .continuation, role: cell.role, attributes: cell.attributes)
    }
  }
}

/// One screen cell: its cluster, its role, and additional attributes.
package struct Cell: Hashable, Sendable {
  package var cluster: Cluster
  package var role: Role
  /// Attributes in addition to the role's style.
  package var attributes: Attributes

  package init(cluster: Cluster, role: Role, attributes: Attributes = []) {
    self.cluster = cluster
    self.role = role
    self.attributes = attributes
  }

  package static let blank = Cell(cluster: .space, role: .text)

  /// The text of one safe cluster; empty for the right half of a wide cluster.
  package var text: String { cluster.text }

  /// The width in columns: 0 for the right half of a wide cluster, else 1 or 2.
  package var width: Int { cluster.width }
}

/// A link in a canvas, for terminals that support links (OSC 8).
package struct CanvasLink: Hashable, Sendable {
  package let columns: Range<Int>
  package let y: Int
  package let address: String

  private static let longest = 2_000

  /// Whether an address is a web address that contains only URL characters. Other characters could end the escape
  /// sequence around it.
  static func isSafe(_ address: String) -> Bool {
    address.utf8.count <= longest && (address.hasPrefix("https://") || address.hasPrefix("http://"))
      && address.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }
}
