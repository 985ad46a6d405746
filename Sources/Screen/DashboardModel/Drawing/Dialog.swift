// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import TerminalCanvas

/// The box of an overlay. On screens without borders, the box fills the area between header and footer.
package struct Dialog {
  /// The area of the contents, without the border and a one-column margin.
  package let content: Rect
  private let rect: Rect
  private let hasBorder: Bool

  /// - Parameter rows: the preferred count of content rows. Small screens have fewer.
  package init(_ layout: Layout, width: Int, rows: Int) {
    // The tab line stays visible if there is room for it.
    let top = layout.layoutClass == .small ? 2 : 1
    let body = Rect(x: 0, y: top, width: layout.size.width, height: max(0, layout.size.height - top - 1))
    hasBorder = layout.layoutClass.isTiled || layout.layoutClass == .small
    guard hasBorder else {
      rect = body
      content = body
      return
    }
    let width = min(width, body.width - 2)
    let height = min(rows + 2, body.height)
    rect = Rect(
      x: (body.width - width) / 2, y: body.y + (body.height - height) / 2, width: width, height: height)
    content = rect.inset(dx: 2, dy: 1)
  }

  /// A dialog that covers a pane.
  package init(in pane: Rect, _ layout: Layout) {
    rect = pane
    hasBorder = layout.layoutClass.isTiled
    content = hasBorder ? pane.inset(dx: 2, dy: 1) : pane
  }

  package func draw(
    _ title: String, _ note: String, noteRole: Role = .paneCount, on canvas: inout Canvas, _ glyphs: Glyphs
  ) {
    canvas.fill(rect)
    guard hasBorder else { return }
    canvas.box(rect, glyphs: glyphs)
    let text = SafeText.truncated(" \(title) ", to: rect.width - 4, ellipsis: glyphs.ellipsis)
    let used = canvas.put(text, at: Point(x: rect.x + 2, y: rect.y), role: .paneTitleFocus)
    let columns = SafeText.columns(of: note)
    guard columns > 0, used + columns + 8 <= rect.width else { return }
    canvas.put(" \(note) ", at: Point(x: rect.maxX - columns - 4, y: rect.y), role: noteRole)
  }

  /// Draws a horizontal line between two parts of the contents. The line is connected to the border.
  package func rule(at y: Int, on canvas: inout Canvas, _ glyphs: Glyphs) {
    canvas.horizontalLine(at: Point(x: rect.x, y: y), width: rect.width, glyphs: glyphs)
    guard hasBorder else { return }
    canvas.put(glyphs.leftTee, at: Point(x: rect.x, y: y), role: .border)
    canvas.put(glyphs.rightTee, at: Point(x: rect.maxX - 1, y: y), role: .border)
  }
}

/// A row of a short list of choices.
package struct MenuItem: Sendable {
  package enum Choice: Sendable {
    case copy(String)
    case newDocument(in: ResourcePath)
    case newDocumentAtPath
    case newListener
    /// Resume the last edit, starting from the other clients' version of the document.
    case editFields(over: Fields?)
    case open(DocumentKey)
    /// Show the rules' decision on a rejected write.
    case openRequest(of: BatchID)
    /// Perform effects. Show a message if the effects themselves show nothing.
    case perform([Effect], saying: String? = nil)
  }

  package var letter: Character
  package var title: String
  /// The effect or the result of the choice, drawn in muted text.
  package var detail: String
  package var choice: Choice

  package init(letter: Character, title: String, detail: String, choice: Choice) {
    (self.letter, self.title, self.detail, self.choice) = (letter, title, detail, choice)
  }
}
