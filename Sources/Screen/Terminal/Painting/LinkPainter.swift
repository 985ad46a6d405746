// SPDX-License-Identifier: Apache-2.0
import TerminalCanvas
import TerminalTheme

/// Draws the links of a canvas over its text (OSC 8). ncurses knows no links: what it has drawn is drawn once more behind
/// it, with cursor and colours saved before and restored afterwards.
struct LinkPainter {
  /// The bytes of the links that are new, gone, or whose text was drawn again.
  ///
  /// - Parameter previous: the canvas that the terminal shows; `nil` if that is not known.
  static func bytes(
    from previous: Canvas?, to canvas: Canvas, _ style: (Role) -> ResolvedStyle
  ) -> [UInt8] {
    let old = previous?.links ?? []
    guard !canvas.links.isEmpty || !old.isEmpty else { return [] }
    func isDrawn(_ link: CanvasLink) -> Bool {
      guard let previous else { return false }
      return previous.row(link.y).dropFirst(link.columns.lowerBound).prefix(link.columns.count)
        .elementsEqual(canvas.row(link.y).dropFirst(link.columns.lowerBound).prefix(link.columns.count))
    }
    // Text that is as it was is still a link, unless it is drawn once more without.
    let gone = old.filter { !canvas.links.contains($0) && isDrawn($0) }
    let new = canvas.links.filter { !old.contains($0) || !isDrawn($0) }
    guard !gone.isEmpty || !new.isEmpty else { return [] }
    var text = "\u{1B}7"
    for link in gone { text += Self.text(of: link, address: "", canvas, style) }
    for link in new { text += Self.text(of: link, address: link.address, canvas, style) }
    return Array((text + "\u{1B}8").utf8)
  }

  private static func text(
    of link: CanvasLink, address: String, _ canvas: Canvas, _ style: (Role) -> ResolvedStyle
  ) -> String {
    var text = "\u{1B}[\(link.y + 1);\(link.columns.lowerBound + 1)H\u{1B}]8;;\(address)\u{1B}\\"
    var shown: String?
    for x in link.columns {
      let cell = canvas[x, link.y]
      guard cell.width > 0 else { continue }
      var look = style(cell.role)
      look.attributes.formUnion(cell.attributes)
      let parameters = look.sgrParameters
      if parameters != shown { text += "\u{1B}[\(parameters)m" }
      shown = parameters
      text += cell.text
    }
    return text + "\u{1B}]8;;\u{1B}\\"
  }
}
