// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The size of a terminal in cells.
package struct TerminalSize: Hashable, Sendable {
  package var columns: Int
  package var rows: Int

  package init(columns: Int, rows: Int) { (self.columns, self.rows) = (columns, rows) }

  /// - Returns: `nil` if the descriptor is no terminal, or one that does not know its size.
  package init?(of descriptor: Int32) {
    var size = winsize()
    guard isatty(descriptor) == 1, ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    (columns, rows) = (Int(size.ws_col), Int(size.ws_row))
  }
}
