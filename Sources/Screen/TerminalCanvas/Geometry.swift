// SPDX-License-Identifier: Apache-2.0

/// A cell position, zero-based; x grows to the right, y downwards.
package struct Point: Hashable, Sendable {
  package var x: Int
  package var y: Int

  package init(x: Int, y: Int) {
    self.x = x
    self.y = y
  }
}

/// A width in columns and a height in rows, never negative.
package struct Size: Hashable, Sendable {
  package var width: Int
  package var height: Int

  package init(width: Int, height: Int) {
    self.width = max(0, width)
    self.height = max(0, height)
  }

  package static let zero = Size(width: 0, height: 0)
}

/// A rectangle of cells. Every operation is defined for all values: very large coordinates saturate instead of
/// overflowing.
package struct Rect: Hashable, Sendable {
  package var x: Int
  package var y: Int
  package var width: Int
  package var height: Int

  /// Creates a rectangle. Negative extents become zero.
  package init(x: Int, y: Int, width: Int, height: Int) {
    self.x = x
    self.y = y
    self.width = max(0, width)
    self.height = max(0, height)
  }

  package init(origin: Point = Point(x: 0, y: 0), size: Size) {
    self.init(x: origin.x, y: origin.y, width: size.width, height: size.height)
  }

  package static let zero = Rect(x: 0, y: 0, width: 0, height: 0)

  package var origin: Point { Point(x: x, y: y) }
  package var size: Size { Size(width: width, height: height) }
  package var isEmpty: Bool { width == 0 || height == 0 }

  /// The first column to the right of the rectangle.
  package var maxX: Int { x.saturatingSum(width) }

  /// The first row below the rectangle.
  package var maxY: Int { y.saturatingSum(height) }

  package func contains(_ point: Point) -> Bool {
    point.x >= x && point.x < maxX && point.y >= y && point.y < maxY
  }

  package func contains(_ other: Rect) -> Bool {
    other.isEmpty || (other.x >= x && other.maxX <= maxX && other.y >= y && other.maxY <= maxY)
  }

  /// The common part of two rectangles. If they do not overlap, the result is empty and its position is unspecified.
  package func intersection(_ other: Rect) -> Rect {
    let left = max(x, other.x)
    let top = max(y, other.y)
    let right = min(maxX, other.maxX)
    let bottom = min(maxY, other.maxY)
    guard right > left, bottom > top else { return Rect(x: left, y: top, width: 0, height: 0) }
    return Rect(x: left, y: top, width: right - left, height: bottom - top)
  }

  /// The rectangle without `dx` columns at the left and right and `dy` rows at the top and bottom; empty if nothing
  /// remains.
  package func inset(dx: Int, dy: Int) -> Rect {
    Rect(
      x: x.saturatingSum(dx), y: y.saturatingSum(dy),
      width: width.saturatingSum(dx.saturatingNegation).saturatingSum(dx.saturatingNegation),
      height: height.saturatingSum(dy.saturatingNegation).saturatingSum(dy.saturatingNegation))
  }
}

extension Int {
  /// The sum, clamped to the limits of `Int`.
  func saturatingSum(_ other: Int) -> Int {
    let (sum, overflow) = addingReportingOverflow(other)
    guard overflow else { return sum }
    return other > 0 ? .max : .min
  }

  var saturatingNegation: Int { self == .min ? .max : -self }
}
