// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreModel
import TerminalCanvas

/// The field editor: opening it, and its keys.
extension DashboardState {
  // MARK: Opening

  /// Opens the field editor for the selected document, at the selected field.
  mutating func editFields() -> [Effect] {
    openEditor { editor, path in
      if let path { editor.select(path) }
    }
  }

  mutating func addField() -> [Effect] {
    openEditor { editor, path in
      if let path { editor.select(path) }
      editor.name()
    }
  }

  mutating func removeField() -> [Effect] {
    openEditor { editor, path in
      guard let path else { return }
      editor.select(path)
      editor.removeSelected()
    }
  }

  private mutating func openEditor(_ start: (inout FieldEditor, [String]?) -> Void) -> [Effect] {
    guard let key = selectedKey, let data = document(key)?.data else { return [] }
    let path = selectedFieldPath
    var editor = FieldEditor(.document(key), data.fields, in: configuration.database)
    start(&editor, path)
    // The open document shows others' changes behind the editor, and is the place it returns to.
    let effects = openDetail(key)
    overlay = .fields(editor)
    return effects
  }

  /// The names on the path to the selected field, including indices of arrays.
  private var selectedFieldPath: [String]? {
    if focus == .collections, case .field(_, let name)? = selectedItem { return [name] }
    guard focus == .detail, case .field(let line)? = selectedLine?.content, line.local != nil else { return nil }
    return line.path
  }

  /// Shows a question over the screen; an editor with unsent edits waits behind it.
  mutating func interject(_ question: Overlay) {
    typing.editing.wait(overlay?.fieldEditor)
    overlay = question
  }

  /// Resumes the edit that was sent last.
  mutating func editAgain(over now: Fields?) {
    if let editor = typing.editing.again(over: now) { overlay = .fields(editor) }
  }

  // MARK: Keys

  /// Handles a letter while no text is typed.
  mutating func choose(_ letter: Character, in editor: FieldEditor) -> [Effect] {
    if case .choosing = editor.mode, let kind = FieldKind.allCases.first(where: { $0.letter == letter }) {
      let now = now
      overlay?.fieldEditor?.take(kind, now: now)
      return []
    }
    return run(Key.character(letter))
  }

  mutating func moveInEditor(by step: Int) -> [Effect] {
    guard var editor = overlay?.fieldEditor else { return [] }
    switch editor.mode {
    case .browsing: editor.move(by: step)
    case .choosing(var cursor, let entry):
      cursor.move(by: step, in: FieldKind.allCases.indices)
      editor.mode = .choosing(cursor, entry)
    case .reviewing(var review):
      review.cursor.move(by: step, in: review.rows.indices)
      editor.mode = .reviewing(review)
    case .naming, .typing: return []
    }
    overlay = .fields(editor)
    return []
  }

  mutating func typeField() -> [Effect] {
    if let reason = overlay?.fieldEditor?.type() { toast(.info, reason) }
    return []
  }

  mutating func nameField() { overlay?.fieldEditor?.name() }
  mutating func acceptFieldName() { overlay?.fieldEditor?.acceptName() }
  mutating func chooseType() { overlay?.fieldEditor?.chooseType() }
  mutating func cycleType(by step: Int) {
    let now = now
    overlay?.fieldEditor?.cycleType(by: step, now: now)
  }

  mutating func removeEdited() { overlay?.fieldEditor?.removeSelected() }
  mutating func switchEdited() { overlay?.fieldEditor?.switchSelected() }
  mutating func foldEdited(isOpen: Bool) { overlay?.fieldEditor?.fold(isOpen: isOpen) }

  mutating func revertEdited() {
    guard let path = overlay?.fieldEditor?.selectedPath, !path.isEmpty else { return }
    overlay?.fieldEditor?.revert(path)
  }

  mutating func acceptType() {
    guard case .choosing(let cursor, _)? = overlay?.fieldEditor?.mode else { return }
    let now = now
    overlay?.fieldEditor?.take(FieldKind.allCases[cursor.index], now: now)
  }

  /// The arrows in a typed value: lines of a text that has several, else types.
  mutating func moveInValue(by step: Int) {
    guard var field = overlay?.field, field.hasLines else { return cycleType(by: step) }
    field.moveLine(by: step)
    overlay?.field = field
  }

  mutating func breakLine() {
    guard var field = overlay?.field else { return }
    field.insert("\n")
    overlay?.field = field
  }

  /// Accepts the typed text, unless it is no value yet, which the editor shows beside it.
  /// - Returns: whether the typing has ended.
  mutating func acceptFieldValue() -> Bool {
    guard var editor = overlay?.fieldEditor else { return false }
    guard case .typing(let entry) = editor.mode else { return true }
    guard editor.accept(entry) else {
      toast(.warning, "\(entry.kind.title): \(entry.problem ?? "no value yet")")
      return false
    }
    overlay = .fields(editor)
    return true
  }

  mutating func typeNextField(by step: Int) {
    guard let wasNew = acceptTyped() else { return }
    overlay?.fieldEditor?.goOn(by: step, afterNew: wasNew)
    _ = typeField()
  }

  /// Takes the value, and goes on to the next row: one more `enter` edits that one, or adds another field.
  mutating func acceptFieldValueAndGoOn() {
    if let wasNew = acceptTyped() { overlay?.fieldEditor?.goOn(by: 1, afterNew: wasNew) }
  }

  /// - Returns: whether the accepted value is that of a new row; `nil` if it was not accepted.
  private mutating func acceptTyped() -> Bool? {
    let wasNew = overlay?.fieldEditor?.isTypingNew ?? false
    return acceptFieldValue() ? wasNew : nil
  }
}
