// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import Terminal
import TerminalCanvas

/// The edited line on the terminal.
struct LineScreen {
  let terminal: LineTerminal
  /// The row of the cursor, counted from the line's first row.
  private var cursorRow = 0
  /// A buffer with the text that was cut from the last line.
  private(set) var kept = LineBuffer()
  /// Events that came in the same read as the end of a line.
  var held: [LineTerminal.Event] = []

  init(_ terminal: LineTerminal) { self.terminal = terminal }

  mutating func draw(_ editor: LineEditor, _ prompt: ShellPrompt) {
    let size = terminal.size
    let layout = LineLayout(
      prompt: editor.prompt(prompt), editor.buffer.characters, cursor: editor.buffer.cursor, columns: size.width)
    let (rows, cursor) = layout.visible(height: size.height)
    var text = cursorRow > 0 ? "\u{1B}[\(cursorRow)A" : ""
    text += "\r\u{1B}[J" + rows.joined(separator: "\r\n")
    let up = rows.count - 1 - cursor
    if up > 0 { text += "\u{1B}[\(up)A" }
    text += "\r"
    if layout.cursorColumn > 0 { text += "\u{1B}[\(layout.cursorColumn)C" }
    // The rows consist of safe clusters.
    terminal.write(ShownText(verbatim: text))
    cursorRow = cursor
  }

  /// Leaves the line as it is; later output appears below it.
  mutating func finish(_ editor: LineEditor, _ prompt: ShellPrompt, _ mark: String = "") {
    var last = editor
    last.moveToEnd()
    draw(last, prompt)
    terminal.write("\(mark)\r\n")
    cursorRow = 0
  }

  /// Writes rows below the line, and the line again below them.
  mutating func list(_ rows: [String], below editor: LineEditor, _ prompt: ShellPrompt) {
    finish(editor, prompt)
    terminal.write(rows.map { ShownText($0) }.joined(separator: "\r\n") + "\r\n")
  }

  mutating func clear() {
    terminal.write("\u{1B}[H\u{1B}[2J")
    cursorRow = 0
  }

  /// Forgets the place of the line, which is no longer where it was drawn.
  mutating func forget() { cursorRow = 0 }

  mutating func keepCut(of editor: LineEditor) {
    kept = editor.buffer
    kept.replace(with: "")
  }
}

extension LineTerminal {
  func write(_ text: ShownText) { write(bytes: Array(text.text.utf8)) }

  /// The events held back before; if there are none, waits for the next.
  func waitOrTakeHeld(_ held: inout [Event]) -> [Event] {
    defer { held = [] }
    return held.isEmpty ? wait() : held
  }
}
