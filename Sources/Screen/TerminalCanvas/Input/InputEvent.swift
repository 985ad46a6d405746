// SPDX-License-Identifier: Apache-2.0

/// An event that a terminal reports.
package enum InputEvent: Codable, Hashable, Sendable {
  case key(Key)
  case mouse(MouseEvent)
  /// Text pasted between brackets: it is data, never key presses, and may contain anything.
  case paste(String)
  /// Whether the terminal window now has the focus.
  case focus(Bool)
  case resize(Size)
  /// An answer to a query, possibly a late one; ignorable.
  case reply(Reply)

  package enum Reply: Codable, Hashable, Sendable {
    /// `CSI 0 n`: everything sent before the query has been drawn.
    case drawn
    /// The payload of an operating system command such as a colour report.
    case operatingSystem(String)
    /// Any other report.
    case other
  }
}

/// A mouse action at a zero-based cell.
package struct MouseEvent: Codable, Hashable, Sendable {
  package enum Kind: Codable, Hashable, Sendable { case press, release, drag, wheelUp, wheelDown }

  package enum Button: Codable, Hashable, Sendable { case left, middle, right, none }

  package var kind: Kind
  package var button: Button
  package var x: Int
  package var y: Int
  package var modifiers: Key.Modifiers

  package init(kind: Kind, button: Button = .left, x: Int, y: Int, modifiers: Key.Modifiers = []) {
    self.kind = kind
    self.button = button
    self.x = x
    self.y = y
    self.modifiers = modifiers
  }

  package var point: Point { Point(x: x, y: y) }
}
