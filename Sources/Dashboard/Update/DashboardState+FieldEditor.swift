// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreModel
import TerminalCanvas

/// The field editor: opening it, its keys, and sending what it comes to.
extension DashboardState {
  // MARK: Opening

  /// Opens the selected document's fields, at the selected one.
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
    // What others do to it is seen behind the editor, and where it comes back from.
    let effects = openDetail(key)
    overlay = .fields(editor)
    return effects
  }

  /// The names down to the selected field, indices of arrays among them.
  private var selectedFieldPath: [String]? {
    if focus == .collections, case .field(_, let name)? = browser.cursor.id { return [name] }
    guard focus == .detail, case .field(let line)? = selectedLine?.content, line.local != nil else { return nil }
    return line.path
  }

  /// Puts a question over everything; an editor with edits that were not sent waits behind it.
  mutating func interject(_ question: Overlay) {
    if let editor = overlay?.fieldEditor, editor.hasUnsentEdits { heldEditor = editor }
    overlay = question
  }

  /// Goes on with the edit that was sent last.
  mutating func editAgain(over now: Fields?) {
    guard let editor = sentEditor else { return }
    overlay = .fields(editor.again(over: now))
  }

  // MARK: Keys

  /// A letter where none is typed.
  mutating func choose(_ letter: Character, in editor: FieldEditor) -> [Effect] {
    if case .choosing = editor.mode, let kind = FieldKind.allCases.first(where: { $0.letter == letter }) {
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
  mutating func cycleType(by step: Int) { overlay?.fieldEditor?.cycleType(by: step, now: now) }
  mutating func removeEdited() { overlay?.fieldEditor?.removeSelected() }
  mutating func switchEdited() { overlay?.fieldEditor?.switchSelected() }
  mutating func foldEdited(isOpen: Bool) { overlay?.fieldEditor?.fold(isOpen: isOpen) }

  mutating func revertEdited() {
    guard let path = overlay?.fieldEditor?.selectedPath, !path.isEmpty else { return }
    overlay?.fieldEditor?.revert(path)
  }

  mutating func acceptType() {
    guard case .choosing(let cursor, _)? = overlay?.fieldEditor?.mode else { return }
    overlay?.fieldEditor?.take(FieldKind.allCases[cursor.index], now: now)
  }

  mutating func breakLine() {
    guard var field = overlay?.field else { return }
    field.insert("\n")
    overlay?.field = field
  }

  /// Takes what was typed, unless it is no value yet, which the editor says where it is typed.
  /// - Returns: whether nothing is being typed any more.
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
    guard acceptFieldValue() else { return }
    overlay?.fieldEditor?.move(by: step)
    _ = typeField()
  }

  // MARK: Leaving

  /// `esc`: a step back, and from the fields out of the editor, not without a question where edits would be lost.
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
    heldEditor = editor
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
      ? "a text has no transforms: send them first, or u takes them back" : nil
  }

  /// Goes on in the user's editor, with what was changed so far in the text.
  mutating func editAsText() -> [Effect] {
    guard let editor = overlay?.fieldEditor else { return [] }
    overlay = nil
    textEditor = editor
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

  var reasonAgainstSending: String? { overlay?.fieldEditor?.review?.problem }

  mutating func sendEdit() -> [Effect] {
    guard let editor = overlay?.fieldEditor else { return [] }
    overlay = nil
    sentEditor = editor
    return [.client(.edit(editor.edit))]
  }

  func copyReviewed() -> [Effect] {
    (overlay?.fieldEditor?.review?.text).map { [.terminal(.copy($0))] } ?? []
  }

  // MARK: Places

  /// Brings the editor's lists back onto the screen.
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

  /// A click into the editor: on a field, its fold or its type, a type of the list, or a button.
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
