// SPDX-License-Identifier: Apache-2.0
import ClientPort
import DashboardModel
import FirestoreJSON
import FirestoreModel
import TerminalCanvas

/// Opening the field editor, and handling its keys.
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
    openEditor { [path = selectedFieldPath] editor, _ in
      guard let path else { return }
      editor.select(path)
      editor.removeSelected()
    }
  }

  private mutating func openEditor(_ start: (inout FieldEditor, [String]?) -> Void) -> [Effect] {
    guard let key = selectedKey, let data = document(key)?.data else { return [] }
    // The editor starts at the selected field, or at the field that the user probably wants to edit.
    let path = selectedFieldPath ?? browser.statistics[key.collection]?.likelyEdited.map { [$0] }
    var editor = FieldEditor(.document(key), data.fields, in: configuration.database)
    start(&editor, path)
    // The open document shows other clients' changes below the editor, which returns to it.
    let effects = openDetail(key)
    overlay = .fields(editor)
    return effects
  }

  /// The names on the path to the selected field. Indices of arrays are included.
  private var selectedFieldPath: [String]? {
    if focus == .collections, case .field(_, let name)? = selectedItem { return [name] }
    guard focus == .detail, case .field(let line)? = selectedLine?.content, line.local != nil else { return nil }
    return line.path
  }

  /// Shows a question over the screen. An open editor with unsent edits is restored after the answer.
  mutating func interject(_ question: Overlay) {
    typing.editing.wait(overlay?.fieldEditor)
    overlay = question
  }

  /// Opens the field editor again with the edits that were sent last.
  mutating func editAgain(over now: Fields?) {
    if let editor = typing.editing.again(over: now) { overlay = .fields(editor) }
  }

  // MARK: Keys

  /// Handles a letter while no text field is active.
  mutating func choose(_ letter: Character, in editor: FieldEditor) -> [Effect] {
    if case .choosing = editor.mode, let kind = FieldKind.allCases.first(where: { $0.letter == letter }) {
      let now = now
      overlay?.fieldEditor?.take(kind, now: now)
      return []
    }
    // A letter on the row that adds a field begins its name. If the editor has other rows, `j` and `k` still move.
    let isName = letter.isLetter && (editor.rows.count == 1 || !["j", "k"].contains(letter))
    if case .browsing = editor.mode, editor.selected?.isAddition == true, isName {
      nameField()
      guard var field = overlay?.field else { return [] }
      field.insert(String(letter))
      overlay?.field = field
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

  /// Handles the arrow keys while you type a value. They move between the lines of a multi-line text, otherwise between
  /// the types.
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

  /// Accepts the typed text. If it is invalid, the editor shows why.
  /// - Returns: whether typing in the field has ended.
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

  /// Accepts the value and moves to the next row. Another `enter` edits that row, or adds another field.
  mutating func acceptFieldValueAndGoOn() {
    if let wasNew = acceptTyped() { overlay?.fieldEditor?.goOn(by: 1, afterNew: wasNew) }
  }

  /// - Returns: whether the accepted value belongs to a new row; `nil` if it was not accepted.
  private mutating func acceptTyped() -> Bool? {
    let wasNew = overlay?.fieldEditor?.isTypingNew ?? false
    return acceptFieldValue() ? wasNew : nil
  }
}

/// The field editor's lists on the screen, and the effects of clicks in the editor.
extension DashboardState {
  /// Scrolls the editor's lists so that their selected rows are visible.
  mutating func settleEditor(_ layout: Layout) {
    guard var editor = overlay?.fieldEditor else { return }
    let geometry = FieldEditorGeometry(editor, layout)
    switch editor.mode {
    case .choosing(var cursor, let entry):
      cursor.settle(in: FieldKind.allCases.indices, height: geometry.types.height)
      editor.mode = .choosing(cursor, entry)
    case .reviewing(var review):
      let place = FieldReviewGeometry(review, layout, self)
      review.cursor.settle(in: review.rows.indices, height: place.rows.height)
      editor.mode = .reviewing(review)
    case .browsing, .naming, .typing:
      editor.cursor.settle(in: editor.rows.indices, height: geometry.rows.height)
    }
    overlay = .fields(editor)
  }

  /// Handles a click in the editor: on a field, its fold mark or type, in the list of types, or on a button.
  mutating func press(_ editor: FieldEditor, at point: Point, _ layout: Layout, isDouble: Bool) -> [Effect] {
    let geometry = FieldEditorGeometry(editor, layout)
    func row(_ cursor: Cursor<Int>, _ count: Int, _ area: Rect) -> Int? {
      let shown = cursor.rows(count: count, height: area.height)
      guard area.contains(point) else { return nil }
      let index = shown.lowerBound + point.y - area.y
      return shown.contains(index) ? index : nil
    }
    switch editor.mode {
    case .choosing(let cursor, _):
      guard let index = row(cursor, FieldKind.allCases.count, geometry.types) else { return [] }
      let now = now
      overlay?.fieldEditor?.take(FieldKind.allCases[index], now: now)
    case .reviewing(let review):
      let place = FieldReviewGeometry(review, layout, self)
      if let isSending = place.isSending(at: point) { return run(isSending ? "accept" : "cancel") }
      if let index = row(review.cursor, review.rows.count, place.rows) {
        return moveInEditor(by: index - review.cursor.index)
      }
    case .naming, .typing: break
    case .browsing:
      guard let index = row(editor.cursor, editor.rows.count, geometry.rows) else { return [] }
      overlay?.fieldEditor?.select(index)
      let row = editor.rows[index]
      if row.isAddition {
        nameField()
      } else if row.isOpen != nil, geometry.foldColumns(of: row).contains(point.x) {
        overlay?.fieldEditor?.toggle(row.path)
      } else if geometry.typeColumns.contains(point.x) {
        chooseType()
      } else if isDouble {
        return run(Key(.enter))
      }
    }
    return []
  }
}

/// Leaving the field editor: back to its previous mode, to the user's text editor, or by sending the edits to the
/// client.
extension DashboardState {
  // MARK: Leaving

  /// Handles `esc`: returns to the editor's previous mode, or closes the editor if it is in its first mode. Asks first
  /// if edits would be lost.
  mutating func leaveFieldEditor() -> [Effect] {
    guard var editor = overlay?.fieldEditor else { return [] }
    if editor.stepBack() {
      overlay = .fields(editor)
      return []
    }
    guard editor.hasUnsentEdits else {
      overlay = nil
      return []
    }
    let count = editor.edited.changeCount
    typing.editing.wait(editor)
    overlay = .confirm(
      Confirmation(
        title: "Leave the editor",
        body: [
          "\(count) change\(count == 1 ? "" : "s") of \(editor.subject.place) \(count == 1 ? "was" : "were") not sent."
        ],
        action: count == 1 ? "Drop it" : "Drop them", subject: .dropEdits))
    return []
  }

  var reasonAgainstTextEditor: String? {
    overlay?.fieldEditor?.edited.transforms.isEmpty == false
      ? "a text cannot have transforms: send them first, or undo them with u" : nil
  }

  /// Continues the edit in the user's text editor. The text includes the changes so far.
  mutating func editAsText() -> [Effect] {
    guard let editor = overlay?.fieldEditor else { return [] }
    overlay = nil
    typing.editing.handOver(editor)
    let edit = editor.edit
    let database = configuration.database
    func text(_ fields: Fields) -> String {
      fields.isEmpty ? "{\n  \n}\n" : DocumentJSON.text(of: fields, relativeTo: database)
    }
    var request = EditRequest(edit.subject.request, text: text(edit.base))
    request.text = text(edit.fields)
    return [.terminal(.edit(request))]
  }

  // MARK: Sending

  mutating func reviewEdit() {
    guard acceptFieldValue(), let editor = overlay?.fieldEditor else { return }
    let exists = editor.isNew && editor.key.map { document($0)?.exists == true } ?? false
    overlay?.fieldEditor?.review = FieldReview(editor, exists: exists)
  }

  /// Switches the write in the review between a set of the whole document and an update.
  mutating func toggleReplacing() {
    overlay?.fieldEditor?.toggleReplacing()
    reviewEdit()
  }

  var reasonAgainstSending: String? { overlay?.fieldEditor?.review?.problem }

  mutating func sendEdit() -> [Effect] {
    guard let editor = overlay?.fieldEditor else { return [] }
    overlay = nil
    return [.client(.edit(typing.editing.send(editor)))]
  }

  func copyReviewed() -> [Effect] {
    (overlay?.fieldEditor?.review?.text).map { [.terminal(.copy($0))] } ?? []
  }
}
