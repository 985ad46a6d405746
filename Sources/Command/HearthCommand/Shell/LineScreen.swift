// SPDX-License-Identifier: Apache-2.0
import CommandOptions
import CommandOutput
import DataCommands
import FirestoreModel
import Terminal
import TerminalCanvas

/// Draws the line that is edited on the terminal.
struct LineScreen {
  let terminal: LineTerminal
  /// The row of the cursor, counted from the line's first row.
  private var cursorRow = 0
  /// A buffer with the text that was last cut.
  private(set) var kept = LineBuffer()
  /// Events that were read together with the end of the line. They belong to the next line.
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

  /// Ends the line. It remains on the screen, and later output appears below it.
  mutating func finish(_ editor: LineEditor, _ prompt: ShellPrompt, _ mark: String = "") {
    var last = editor
    last.moveToEnd()
    draw(last, prompt)
    terminal.write("\(mark)\r\n")
    cursorRow = 0
  }

  /// Writes rows below the line, then draws the line again below these rows.
  mutating func list(_ rows: [String], below editor: LineEditor, _ prompt: ShellPrompt) {
    finish(editor, prompt)
    terminal.write(rows.map { ShownText($0) }.joined(separator: "\r\n") + "\r\n")
  }

  mutating func clear() {
    terminal.write("\u{1B}[H\u{1B}[2J")
    cursorRow = 0
  }

  /// Forgets where the line is on the screen, because the screen has changed.
  mutating func forget() { cursorRow = 0 }

  mutating func keepCut(of editor: LineEditor) {
    kept = editor.buffer
    kept.replace(with: "")
  }
}

extension LineTerminal {
  func write(_ text: ShownText) { write(bytes: Array(text.text.utf8)) }

  /// Returns the events that were read earlier, or waits for the next events.
  func waitOrTakeHeld(_ held: inout [Event]) -> [Event] {
    defer { held = [] }
    return held.isEmpty ? wait() : held
  }
}

/// A prompt and a text, arranged in the rows of a terminal, with the position of the cursor.
struct LineLayout: Hashable, Sendable {
  private(set) var rows: [String] = [""]
  private(set) var cursorRow = 0
  private(set) var cursorColumn = 0
  private let columns: Int
  private var width = 0

  /// - Parameters:
  ///   - prompt: the text before the line, including escape sequences for colors.
  ///   - cursor: the position of the cursor, in characters of the text.
  ///   - continuation: the text before the second and later lines.
  init(prompt: ShellPrompt, _ text: [Character], cursor: Int, columns: Int, continuation: String = "  ") {
    self.columns = max(1, columns)
    if SafeText.columns(of: prompt.text) < columns {
      rows = [prompt.painted.text]
      width = SafeText.columns(of: prompt.text)
    } else {
      for cluster in SafeText(prompt.text) { put(cluster.text, cluster.width) }
    }
    for (index, character) in text.enumerated() {
      if index == cursor { markCursor() }
      if character.isNewline {
        startRow()
        for cluster in SafeText(continuation) { put(cluster.text, cluster.width) }
      } else {
        for cluster in SafeText(String(character)) { put(cluster.text, cluster.width) }
      }
    }
    if cursor >= text.count { markCursor() }
  }

  private mutating func put(_ text: String, _ columns: Int) {
    if width + columns > self.columns { startRow() }
    rows[rows.count - 1] += text
    width += columns
  }

  private mutating func startRow() {
    rows.append("")
    width = 0
  }

  /// Records the position of the cursor. If the cursor is after the last column, its position is the beginning of the
  /// next row.
  private mutating func markCursor() {
    if width == columns { startRow() }
    (cursorRow, cursorColumn) = (rows.count - 1, width)
  }

  /// The rows near the cursor that fit the height of the terminal, and the index of the cursor's row among them.
  func visible(height: Int) -> (rows: ArraySlice<String>, cursor: Int) {
    let height = max(1, height)
    guard rows.count > height else { return (rows[...], cursorRow) }
    let first = min(max(0, cursorRow - height + 1), rows.count - height)
    return (rows[first..<(first + height)], cursorRow - first)
  }
}

/// The prompt before a typed line. It names the backend and the database that commands use.
struct ShellPrompt: Hashable, Sendable {
  var text: String
  /// The text of the prompt with colors.
  var painted: ShownText

  init(_ text: String) { (self.text, painted) = (text, ShownText(text)) }

  /// - Parameter isSilent: whether the backend did not respond to the last request.
  init(
    _ locations: StorageOptions.Locations, isReadOnly: Bool, isSilent: Bool = false, _ paint: TerminalPaint,
    _ paths: Paths
  ) {
    let database = locations.database
    let name = locations.connection?.name ?? locations.place(paths)
    // The default project has the program's own name.
    let isUsual = database.project == "hearth" && database.database == "(default)" && locations.connection == nil
    let project = database.database == "(default)" ? database.project : "\(database.project)/\(database.database)"
    let place = SafeText.sanitized(isUsual ? name : "\(name) \(project)")
    let isReadOnly = isReadOnly || locations.isReadOnly
    let production = locations.isProduction ? " PRODUCTION" : ""
    let silence = isSilent ? " unreachable" : ""
    let end = (isReadOnly ? " read-only" : "") + "> "
    text = place + silence + production + end
    let marks: ShownText =
      "\(paint.text(ShownText(silence), .headerOffline))\(paint.text(ShownText(production), .headerProd))"
    painted = "\(paint.text(ShownText(place), .header))\(marks)\(end)"
  }
}
