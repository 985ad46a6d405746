// SPDX-License-Identifier: Apache-2.0
package import TerminalCanvas

extension Canvas {
  /// Draws a line of input, scrolled so that the insertion point is visible, and puts the terminal's cursor there.
  package mutating func put(_ field: TextField, x: Int, y: Int, width: Int, role: Role = .input, isFocused: Bool = true)
  {
    guard width > 0 else { return }
    let text = field.text
    let before = SafeText.columns(of: field.beforeCursor)
    let scrolled = isFocused ? max(0, before - width + 1) : 0
    let clip = Rect(x: x, y: y, width: width, height: 1)
    if isFocused {
      fill(clip, role: role)
      put(text, at: Point(x: x - scrolled, y: y), role: role, clip: clip)
      cursor = Point(x: x + before - scrolled, y: y)
    } else {
      put(SafeText.truncated(text, to: width), at: Point(x: x, y: y), role: role, maxWidth: width)
    }
  }
}
