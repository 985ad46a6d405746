// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The modes of the field editor, and what keys do in each mode.
extension FieldEditor {
  /// The active text field.
  package var field: TextField? {
    get {
      switch mode {
      case .naming(let field, _): field
      case .typing(let entry): entry.field
      case .browsing, .choosing, .reviewing: nil
      }
    }
    set {
      guard let newValue else { return }
      switch mode {
      case .naming:
        var problem: String?
        do throws(ModelError) { _ = try newPath(newValue.text) } catch { problem = error.message }
        mode = .naming(newValue, problem: problem)
      case .typing(var entry):
        entry.field = newValue
        mode = .typing(entry)
      case .browsing, .choosing, .reviewing: break
      }
    }
  }

  package var review: FieldReview? {
    get { if case .reviewing(let review) = mode { review } else { nil } }
    set { if let newValue { mode = .reviewing(newValue) } }
  }

  /// The input of the value that is being typed in a row. A new field is typed in the last row.
  package func entry(of row: EditedRow) -> FieldEntry? {
    switch mode {
    case .typing(let entry), .choosing(_, let entry):
      entry.path == row.path || row.isAddition && selected?.isAddition == true ? entry : nil
    case .browsing, .naming, .reviewing: nil
    }
  }

  // MARK: Steps

  /// Starts the input of the selected field's value. In the last row, starts the input of a new field's name.
  /// - Returns: the reason why the field cannot be typed; `nil` if it can be typed.
  package mutating func type() -> String? {
    guard let row = selected, !row.isAddition else {
      name()
      return nil
    }
    let entry = entry(at: row.path)
    guard entry.text.characters.count < FieldEntry.longest else {
      return "the value is too long for a line: e opens the document in $EDITOR"
    }
    mode = .typing(entry)
    return nil
  }

  /// Starts adding a field next to the selected field. In an array, starts adding an element.
  package mutating func name() {
    var path = selectedPath
    if edited.isInArray(path) { path = edited.fieldPath(of: path).segments }
    if case .array(let values)? = edited.fields.value(at: path), !path.isEmpty {
      let element = path + ["\(values.count)"]
      let kind = values.last.map { FieldKind($0) }
      if rows.first(where: { $0.path == path })?.isOpen == false { toggle(path) }
      select(rows.count - 1)
      mode = .typing(
        FieldEntry(
          element, kind ?? .string, text: "", isInArray: true, infersKind: kind == nil, in: database))
      return
    }
    let isMap = if case .map? = edited.fields.value(at: path), selected?.isOpen != false { true } else { false }
    let parent = isMap ? path : Array(path.dropLast())
    let prefix = parent.isEmpty ? "" : FieldPath(segments: parent).canonicalText + "."
    select(rows.count - 1)
    mode = .naming(TextField(prefix), problem: nil)
  }

  /// Accepts the name of the new field, and continues with its value.
  package mutating func acceptName() {
    guard case .naming(let field, _) = mode else { return }
    do throws(ModelError) {
      let path = try newPath(field.text)
      select(path)
      let isThere = edited.fields.value(at: path) != nil || edited.transform(at: path) != nil
      mode = .typing(
        isThere
          ? entry(at: path)
          : FieldEntry(path, .string, text: "", isInArray: false, infersKind: true, in: database))
    } catch {
      mode = .naming(field, problem: error.message)
    }
  }

  /// Whether the value of a new field or element is being typed.
  package var isTypingNew: Bool {
    guard case .typing(let entry) = mode else { return false }
    return edited.fields.value(at: entry.path) == nil && edited.base.value(at: entry.path) == nil
  }

  /// Moves to the next row after a value was accepted. After a new field, moves to the row in which you add another
  /// field.
  package mutating func goOn(by step: Int, afterNew wasNew: Bool) {
    if wasNew, step > 0 { select(rows.count - 1) } else { move(by: step) }
  }

  package mutating func chooseType() {
    let entry: FieldEntry
    switch mode {
    case .browsing:
      guard let row = selected, !row.isAddition else { return }
      entry = self.entry(at: row.path)
    case .typing(let typed): entry = typed
    case .naming, .choosing, .reviewing: return
    }
    var cursor = Cursor<Int>()
    cursor.select(index: FieldKind.allCases.firstIndex(of: entry.kind) ?? 0, in: FieldKind.allCases.indices)
    mode = .choosing(cursor, entry)
  }

  /// Changes the type of the value that is being typed. If the type needs no text, accepts the value immediately.
  package mutating func take(_ kind: FieldKind, now: Timestamp) {
    guard case .choosing(_, var entry) = mode else { return }
    entry.change(to: kind, now: now)
    mode = .typing(entry)
    if !kind.takesText { _ = accept(entry) }
  }

  package mutating func cycleType(by step: Int, now: Timestamp) {
    guard case .typing(var entry) = mode else { return }
    entry.change(to: entry.kind.neighbour(step), now: now)
    mode = .typing(entry)
  }

  /// Deletes the selected field. If the field was already deleted, or is new, restores its original state.
  package mutating func removeSelected() {
    guard let row = selected, !row.isAddition else { return }
    let isThere = edited.fields.value(at: row.path) != nil
    if isThere || edited.transform(at: row.path) != nil { put(nil, at: row.path) } else { revert(row.path) }
  }

  /// Handles `space`: toggles a Boolean value, or folds or unfolds an array or map.
  package mutating func switchSelected() {
    guard let row = selected, !row.isAddition else { return }
    if row.isOpen != nil { return toggle(row.path) }
    guard edited.transform(at: row.path) == nil, case .boolean(let flag)? = edited.fields.value(at: row.path) else {
      return
    }
    put(.boolean(!flag), at: row.path)
  }

  package mutating func fold(isOpen wanted: Bool) {
    guard let row = selected else { return }
    if let isOpen = row.isOpen, isOpen != wanted {
      toggle(row.path)
    } else if !wanted, row.path.count > 1 {
      select(Array(row.path.dropLast()))
    }
  }

  /// Returns to the previous mode. Returns `false` if the editor is in its first mode.
  package mutating func stepBack() -> Bool {
    switch mode {
    case .browsing: return false
    case .naming, .typing, .choosing, .reviewing:
      mode = .browsing
      return true
    }
  }
}
