// SPDX-License-Identifier: Apache-2.0
package import ClientPort
package import FirestoreModel

/// A document's fields as a form. Each row shows the type and the change of a field. Before the write is sent, the
/// editor shows it for review.
package struct FieldEditor: Sendable {
  package enum Mode: Sendable {
    case browsing
    /// The path of a new field is being typed.
    case naming(TextField, problem: String?)
    case typing(FieldEntry)
    /// The user is choosing the type of a value.
    case choosing(Cursor<Int>, FieldEntry)
    case reviewing(FieldReview)
  }

  package let subject: FieldEdit.Subject
  package let database: DatabaseID
  package private(set) var edited: EditedFields
  package private(set) var rows: [EditedRow] = []
  package private(set) var toggled: Set<[String]> = []
  package var cursor = Cursor<Int>()
  package var mode = Mode.browsing
  /// Whether to write the whole document instead of only the changes.
  package private(set) var replaces = false
  /// The fields that other clients have changed since the editor was opened.
  package private(set) var changedMeanwhile: [FieldPath] = []

  package init(_ subject: FieldEdit.Subject, _ fields: Fields, in database: DatabaseID) {
    self.subject = subject
    self.database = database
    edited = EditedFields(base: fields)
    list()
  }

  /// The key of the document; `nil` if the document will get an automatic id.
  package var key: DocumentKey? {
    switch subject {
    case .document(let key), .documentToCreate(let key): key
    case .newDocument: nil
    }
  }

  package var isNew: Bool { if case .document = subject { false } else { true } }
  /// Whether leaving the editor would lose edits.
  package var hasUnsentEdits: Bool { edited.isChanged }

  /// A new editor with the same edits, starting from the other clients' version of the document. If they deleted the
  /// document, the edits create a new document.
  package func again(over now: Fields?) -> FieldEditor {
    var editor = self
    if let now {
      editor.edited = edited.rebased(onto: now)
    } else if let key {
      editor = FieldEditor(.documentToCreate(key), Fields(), in: database)
      for entry in edited.fields.entries { editor.edited.put(entry.value, at: [entry.name]) }
      for transform in edited.transforms { editor.edited.transform(transform.operation, at: transform.path.segments) }
    }
    editor.mode = .browsing
    editor.changedMeanwhile = []
    editor.list()
    return editor
  }

  /// Compares the current document with the edited one, to find changes by other clients. Timestamps that the server
  /// sets do not count.
  package mutating func note(_ now: Fields) {
    changedMeanwhile = FieldChange.written(edited.base, now).filter { change in
      if case .serverTimestamp? = change.old { false } else { true }
    }
    .map(\.path)
  }

  /// The edit to send.
  package var edit: FieldEdit {
    FieldEdit(
      subject: subject, base: edited.base, fields: edited.fields, transforms: edited.transforms, replaces: replaces)
  }

  /// Toggles between a set of the whole document and an update of the changes. A new document is always written as a
  /// set.
  package mutating func toggleReplacing() { if !isNew { replaces.toggle() } }

  // MARK: Rows

  package var selected: EditedRow? { rows.indices.contains(cursor.index) ? rows[cursor.index] : nil }

  /// The path of the selected field. A new field is added next to it.
  package var selectedPath: [String] { selected?.path ?? [] }

  package mutating func move(by step: Int) { cursor.move(by: step, in: rows.indices) }

  package mutating func select(_ index: Int) { cursor.select(index: index, in: rows.indices) }

  /// Selects a field, and unfolds the arrays and maps that contain it.
  package mutating func select(_ path: [String]) {
    for depth in path.indices.dropFirst() {
      let parent = Array(path[..<depth])
      if rows.first(where: { $0.path == parent })?.isOpen == false { toggle(parent) }
    }
    if let index = rows.firstIndex(where: { $0.path == path }) { select(index) }
  }

  package mutating func toggle(_ path: [String]) {
    toggled.formSymmetricDifference([path])
    list()
  }

  private mutating func list() {
    rows = EditedRows(edited: edited, toggled: toggled).list
    cursor.move(by: 0, in: rows.indices)
  }

  // MARK: Editing

  package mutating func put(_ value: Value?, at path: [String]) {
    edited.put(value, at: path)
    list()
  }

  package mutating func transform(_ operation: FieldTransform.Operation, at path: [String]) {
    edited.transform(operation, at: path)
    list()
  }

  package mutating func revert(_ path: [String]) {
    edited.revert(path)
    list()
  }

  /// The input for a field, with its current text and type.
  package func entry(at path: [String]) -> FieldEntry {
    let isInArray = edited.isInArray(path)
    func entry(_ kind: FieldKind, _ text: String) -> FieldEntry {
      FieldEntry(path, kind, text: text, isInArray: isInArray, in: database)
    }
    if let operation = edited.transform(at: path) {
      return entry(FieldKind(operation), operation.operandText(in: database))
    }
    guard let value = edited.fields.value(at: path) ?? edited.base.value(at: path) else { return entry(.string, "") }
    return entry(FieldKind(value), FieldText.text(of: value, in: database))
  }

  /// Applies the typed value to the document. If text and type are unchanged, the document does not change.
  /// - Returns: whether the value was accepted.
  package mutating func accept(_ entry: FieldEntry) -> Bool {
    let before = self.entry(at: entry.path)
    let isThere = edited.fields.value(at: entry.path) != nil || edited.transform(at: entry.path) != nil
    if isThere, before.kind == entry.kind, before.text.text.equalsUTF8(entry.text.text) {
      mode = .browsing
      return true
    }
    switch entry.outcome {
    case .wrong: return false
    case .value(let value): put(value, at: entry.path)
    case .transform(let operation): transform(operation, at: entry.path)
    case .deletion: put(nil, at: entry.path)
    }
    mode = .browsing
    select(entry.path)
    return true
  }

  /// The path of a new field.
  /// - Throws: the reason why the path is invalid, or an error if the field already exists.
  func newPath(_ text: String) throws(ModelError) -> [String] {
    let path = try FieldPath(validating: text)
    if path.isDocumentID { throw ModelError("__name__ is the document's own name") }
    for depth in 1..<max(1, path.segments.count) {
      let parent = Array(path.segments[..<depth])
      guard let value = edited.fields.value(at: parent) else { continue }
      if case .map = value { continue }
      let name = FieldPath(segments: parent).canonicalText
      if case .array = value { throw ModelError("\(name) is an array: select it, and a adds an element") }
      throw ModelError("\(name) is not a map: its type is \(FieldKind(value).title)")
    }
    return path.segments
  }
}

/// The field editors that are not on the screen. Each returns to the screen after the event in this diagram. The
/// overlay contains the editor that is on the screen.
///
/// on the screen ── a question comes up ──► waiting ────── answered ──► on the screen, or dropped │──────── sent
/// ──────────────────► sent ───────── conflict ──► on the screen, over the current document └──────── edited as a text
/// ──────► handed over ── gave up ───► on the screen
///
/// Each of the three states can have one edit at a time. A conflict with the sent edit can be reported while another
/// edit is open.
package struct EditingState: Sendable {

  private var waiting: FieldEditor?
  private var sent: FieldEditor?
  private var handedOver: FieldEditor?

  package init() {}

  /// Sets an editor aside while a question is shown. Drops an editor without edits.
  package mutating func wait(_ editor: FieldEditor?) {
    if let editor, editor.hasUnsentEdits { waiting = editor }
  }

  /// Removes and returns the editor that was set aside.
  package mutating func takeWaiting() -> FieldEditor? {
    defer { waiting = nil }
    return waiting
  }

  package mutating func dropWaiting() { waiting = nil }

  /// Stores an editor when its edit is sent, in case a conflict is reported. Replaces the previously stored editor.
  package mutating func send(_ editor: FieldEditor) -> FieldEdit {
    sent = editor
    return editor.edit
  }

  /// The editor of the last sent edit, starting from the current document.
  package func again(over now: Fields?) -> FieldEditor? { sent?.again(over: now) }

  /// Stores an editor when its edits are opened in the user's text editor. It is restored if the text editor returns
  /// nothing.
  package mutating func handOver(_ editor: FieldEditor) { handedOver = editor }

  /// Drops the stored editor, because the user's text editor opens another text.
  package mutating func beginText() { handedOver = nil }

  /// Removes the editor whose edits were opened in the text editor. Returns it if it has unsent edits.
  package mutating func takeBack() -> FieldEditor? {
    defer { handedOver = nil }
    return handedOver?.hasUnsentEdits == true ? handedOver : nil
  }
}
