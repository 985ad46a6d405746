// SPDX-License-Identifier: Apache-2.0
import ClientPort
import Dashboard
import DashboardModel
import FirestoreModel
import TerminalCanvas

/// Draws the field editor: a row for each field, in which the value is also typed, and a summary of the edits below.
/// Only the rows on screen are computed.
struct FieldEditorDialog {
  let editor: FieldEditor
  let frame: FrameState
  let layout: Layout
  let glyphs: Glyphs

  func draw(on canvas: inout Canvas) {
    if case .reviewing(let review) = editor.mode {
      return FieldReviewDialog(review: review, frame: frame, layout: layout, glyphs: glyphs).draw(on: &canvas)
    }
    let geometry = FieldEditorGeometry(editor, layout)
    let count = editor.edited.changeCount
    let note = count == 0 ? "nothing is changed" : "\(count) change\(count == 1 ? "" : "s"), not sent"
    geometry.dialog.draw(editor.subject.place, note, noteRole: count == 0 ? .paneCount : .warn, on: &canvas, glyphs)
    if let y = geometry.heads { canvas.put(heads(geometry), x: geometry.rows.x, y: y, width: geometry.rows.width) }
    canvas.rows(of: editor.cursor, count: editor.rows.count, in: geometry.rows, frame.state) { index in
      line(editor.rows[index], geometry)
    }
    drawStatus(geometry, on: &canvas)
    drawInput(geometry, on: &canvas)
    if case .choosing(let cursor, _) = editor.mode { drawTypes(cursor, geometry, on: &canvas) }
  }

  private func heads(_ geometry: FieldEditorGeometry) -> Line {
    var line = Line(glyphs)
    line.skip(FieldEditorGeometry.lead + 2)
    line.cell("field", .textMuted, width: geometry.name - 2)
    line.cell("type", .textMuted, width: geometry.type)
    line.add("value", .textMuted)
    return line
  }

  // MARK: Rows

  private func line(_ row: EditedRow, _ geometry: FieldEditorGeometry) -> Line {
    var line = Line(glyphs)
    line.skip(1)
    if row.isAddition {
      guard let entry = editor.entry(of: row) else {
        line.skip(4)
        if case .naming = editor.mode { return line }
        line.add("[ + add a field ]", .hint)
        return line
      }
      line.cell("+", .diffAdded, width: 4)
      line.cell(FieldPath(segments: entry.path).canonicalText, .jsonKey, width: geometry.name - 3)
      line.skip(1)
      addType(entry.kind, to: &line, geometry)
      return line
    }
    let edited = editor.edited
    let (old, new) = (edited.base.value(at: row.path), edited.fields.value(at: row.path))
    let operation = edited.transform(at: row.path)
    let sign = Self.sign(old, new, operation)
    line.cell(sign.text, sign.role, width: 2)
    let indent = geometry.indent(of: row)
    line.skip(indent)
    line.cell(row.isOpen.map { $0 ? glyphs.unfolded : glyphs.folded } ?? "", .textMuted, width: 2)
    line.cell(
      row.path.last ?? "", edited.isInArray(row.path) ? .jsonPunct : .jsonKey, width: geometry.name - indent - 3)
    line.skip(1)
    let entry = editor.entry(of: row)
    let kind = entry?.kind ?? operation.map { FieldKind($0) } ?? (new ?? old).map { FieldKind($0) }
    if let kind { addType(kind, to: &line, geometry) } else { line.skip(geometry.type) }
    if entry?.field != nil { return line }
    if let operation {
      line.add(operation.text, .flagPending)
    } else if let new {
      line.add(text(of: new), new.role)
    } else {
      line.add(old == nil ? "computed below" : "deleted", old == nil ? .textMuted : .diffRemoved)
    }
    if let old, old != new || operation != nil, layout.size.width >= 60 {
      line.skip(2)
      line.add("was \(ValueText.short(old))", .textMuted)
    }
    return line
  }

  /// A value as text. Short bytes values are shown in full, longer ones as a byte count. Times have all their digits.
  private func text(of value: Value) -> String {
    switch value {
    case .bytes(let bytes) where bytes.count <= 24: FieldText.text(of: value, in: editor.database)
    case .timestamp(let time) where !time.nanoseconds.isMultiple(of: 1_000_000): time.rfc3339Text
    default: ValueText.short(value)
    }
  }

  private func addType(_ kind: FieldKind, to line: inout Line, _ geometry: FieldEditorGeometry) {
    guard geometry.type > 0 else { return }
    line.cell(geometry.type < 8 ? kind.short : kind.title, .textMuted, width: geometry.type - 1)
    line.skip(1)
  }

  private static func sign(
    _ old: Value?, _ new: Value?, _ operation: FieldTransform.Operation?
  ) -> (text: String, role: Role) {
    if operation != nil { return ("*", .flagPending) }
    switch (old, new) {
    case (nil, .some): return ("+", .diffAdded)
    case (.some, nil): return ("-", .diffRemoved)
    case (let old?, let new?) where old != new: return ("~", .diffModified)
    default: return ("", .text)
    }
  }

  // MARK: Typed text

  private func drawInput(_ geometry: FieldEditorGeometry, on canvas: inout Canvas) {
    let shown = editor.cursor.rows(count: editor.rows.count, height: geometry.rows.height)
    guard shown.contains(editor.cursor.index) else { return }
    let y = geometry.rows.y + editor.cursor.index - shown.lowerBound
    switch editor.mode {
    case .naming(let field, let problem):
      let label = "name "
      let x = geometry.rows.x + FieldEditorGeometry.lead + 2
      canvas.put(label, at: Point(x: x, y: y), role: .key, maxWidth: geometry.rows.maxX - x)
      canvas.put(
        field, x: x + label.count, y: y, width: geometry.rows.maxX - x - label.count,
        role: problem == nil || field.isEmpty ? .input : .inputInvalid)
    case .typing(let entry):
      let x = geometry.rows.x + geometry.valueColumn
      guard let field = entry.field, x < geometry.rows.maxX else { return }
      let width = geometry.rows.maxX - x
      let isWrong = entry.problem != nil && !field.isEmpty
      if field.hasLines, drawBox(field, x: x, below: y, geometry.rows, on: &canvas) { return }
      canvas.put(field, x: x, y: y, width: width, role: isWrong ? .inputInvalid : .input)
      guard field.isEmpty else { return }
      let ghost = entry.infersKind ? "a number, true, null, or any text" : entry.kind.example
      canvas.put(ghost, at: Point(x: x, y: y), role: .inputGhost, maxWidth: width)
    case .browsing, .choosing, .reviewing: break
    }
  }

  /// The maximum count of visible lines of a multi-line text.
  private static let boxHeight = 8

  /// Draws a multi-line text over the rows below the row of the text. If there is more space above, draws it there.
  /// - Returns: whether there is space for two lines.
  private func drawBox(_ field: TextField, x: Int, below y: Int, _ rows: Rect, on canvas: inout Canvas) -> Bool {
    let (texts, line, column) = field.lines
    let wanted = min(texts.count, Self.boxHeight)
    let below = rows.maxY - y
    let height = min(wanted, max(below, y - rows.y + 1))
    guard height >= 2 else { return false }
    let top = below >= height ? y : y - height + 1
    let first = max(0, min(line - height / 2, texts.count - height))
    let width = rows.maxX - x
    for row in 0..<height {
      let text = texts[first + row]
      let place = Rect(x: x, y: top + row, width: width, height: 1)
      let before = first + row == line ? SafeText.columns(of: String(text.prefix(column))) : 0
      let scrolled = max(0, before - width + 1)
      canvas.fill(place, role: .input)
      canvas.put(
        text, at: Point(x: x - scrolled, y: top + row), role: field.isSelected ? .selection : .input, clip: place)
      if first + row == line { canvas.cursor = Point(x: x + before - scrolled, y: top + row) }
    }
    return true
  }

  // MARK: Below the rows

  private func drawStatus(_ geometry: FieldEditorGeometry, on canvas: inout Canvas) {
    let area = geometry.status
    guard area.height > 0 else { return }
    let (text, role) = remark
    func put(_ text: String, _ role: Role, at row: Int) {
      canvas.put(
        SafeText.truncated(text, to: area.width, ellipsis: glyphs.ellipsis), at: Point(x: area.x, y: area.y + row),
        role: role, clip: area)
    }
    if area.height < 3 {
      if case .browsing = editor.mode { put(summary.0, summary.1, at: 0) } else { put(text, role, at: 0) }
      return
    }
    geometry.dialog.rule(at: area.y, on: &canvas, glyphs)
    put(text, role, at: 1)
    put(summary.0, summary.1, at: 2)
  }

  /// The remark about the selected row, or about the text that is typed in it.
  private var remark: (String, Role) {
    switch editor.mode {
    case .naming(_, let problem):
      return problem.map { ("! \($0)", .error) } ?? (
        "a.b is b in the map a; `x y` a name with other characters", .textMuted
      )
    case .typing(let entry), .choosing(_, let entry):
      if let problem = entry.problem, entry.field?.isEmpty == false { return ("! \(problem)", .error) }
      let inferred = entry.infersKind && entry.field?.isEmpty == false ? "read as " : ""
      return ("\(inferred)\(entry.kind.title): \(note(on: entry))", .textMuted)
    case .browsing, .reviewing: break
    }
    guard let row = editor.selected, !row.isAddition else {
      return ("a field, or one in a map: a.b, `x y`.z", .textMuted)
    }
    let name = editor.edited.fieldPath(of: row.path).canonicalText
    if editor.edited.isInArray(row.path) { return ("in the array \(name), which is written as a whole", .textMuted) }
    guard let old = editor.edited.base.value(at: row.path) else { return (name, .textMuted) }
    let isChanged = editor.edited.fields.value(at: row.path) != old || editor.edited.transform(at: row.path) != nil
    let words = "\(isChanged ? "was " : "")\(FieldKind(old).title) \(ValueText.short(old))"
    return ("\(name) \(glyphs.bullet) \(words)", .textMuted)
  }

  private func note(on entry: FieldEntry) -> String {
    if case .value(.timestamp(let time)) = entry.outcome, !time.nanoseconds.isMultiple(of: 1000) {
      return "the server keeps microseconds"
    }
    if case .string = entry.kind, let text = entry.field?.text, text.contains(where: \.isNewline) {
      return "\(text.count { $0.isNewline } + 1) lines"
    }
    return entry.infersKind ? "42 is a number, \"42\" is text; ctrl-t chooses a type" : entry.kind.example
  }

  /// A summary of the edits, or a warning that the document has changed since the editor was opened.
  private var summary: (String, Role) {
    let meanwhile = editor.changedMeanwhile
    if !meanwhile.isEmpty {
      let names = meanwhile.prefix(20).map(\.canonicalText).joined(separator: ", ")
      return ("! changed since you began: \(names)", .warn)
    }
    let edit = editor.edit
    if editor.isNew {
      let count = editor.edited.fields.count + edit.transforms.count
      return ("set: a new document with \(count) field\(count == 1 ? "" : "s")", .textMuted)
    }
    guard editor.edited.isChanged else { return ("update: nothing yet", .textMuted) }
    let mask = editor.edited.changes.prefix(20).map(\.path.canonicalText).joined(separator: ", ")
    let count = edit.transforms.count
    let transforms = count == 0 ? "" : " \(glyphs.bullet) \(count) transform\(count == 1 ? "" : "s")"
    return ("update: mask [\(mask)]\(transforms)", .textMuted)
  }

  // MARK: Types

  private func drawTypes(_ cursor: Cursor<Int>, _ geometry: FieldEditorGeometry, on canvas: inout Canvas) {
    geometry.typeDialog.draw("Type", "a letter chooses", on: &canvas, glyphs)
    canvas.rows(of: cursor, count: FieldKind.allCases.count, in: geometry.types, frame.state) { index in
      let kind = FieldKind.allCases[index]
      var line = Line(glyphs)
      line.skip(2)
      line.cell(String(kind.letter), .key, width: 3)
      line.cell(kind.title, kind.isTransform ? .flagPending : .text, width: 14)
      line.add(kind.example, .textMuted)
      return line
    }
  }
}

/// Draws the write of an edit before it is sent: its kind, mask and precondition, and each field's old and new value.
struct FieldReviewDialog {
  let review: FieldReview
  let frame: FrameState
  let layout: Layout
  let glyphs: Glyphs

  func draw(on canvas: inout Canvas) {
    let geometry = FieldReviewGeometry(review, layout, frame.state)
    geometry.dialog.draw(review.title, "not sent yet", noteRole: .warn, on: &canvas, glyphs)
    let area = geometry.dialog.content
    for (row, text) in geometry.lead.enumerated() {
      canvas.put(
        SafeText.truncated(text, to: area.width - 1, ellipsis: glyphs.ellipsis),
        at: Point(x: area.x + 1, y: area.y + row), clip: area)
    }
    if let y = geometry.rule { geometry.dialog.rule(at: y, on: &canvas, glyphs) }
    canvas.rows(of: review.cursor, count: review.rows.count, in: geometry.rows, frame.state) { index in
      field(review.rows[index], width: area.width)
    }
    if let problem = review.problem, geometry.buttons - 1 >= area.y {
      canvas.put(
        SafeText.truncated("! \(problem)", to: area.width - 1, ellipsis: glyphs.ellipsis),
        at: Point(x: area.x + 1, y: geometry.buttons - 1), role: .error, clip: area)
    }
    var line = Line(glyphs)
    line.skip(1)
    line.add(FieldReviewGeometry.send, review.problem == nil ? .selection : .textMuted)
    line.skip(2)
    line.add(FieldReviewGeometry.back)
    canvas.put(line, x: area.x, y: geometry.buttons, width: area.width)
    drawSelected(geometry, on: &canvas)
  }

  /// Draws the full text of the selected row if it fits.
  private func drawSelected(_ geometry: FieldReviewGeometry, on canvas: inout Canvas) {
    guard review.rows.indices.contains(review.cursor.index) else { return }
    let row = review.rows[review.cursor.index]
    let area = geometry.dialog.content
    let words = (row.old.map { "\($0) \(glyphs.arrow) " } ?? "") + row.new
    guard row.name.count + words.count + 12 > area.width else { return }
    let lines = WrappedText.lines("\(row.name) \(words)", width: max(8, area.width - 2), glyphs.ellipsis)
    let top = geometry.buttons + 2
    for (offset, text) in lines.prefix(max(0, area.maxY - top)).enumerated() {
      canvas.put(text, at: Point(x: area.x + 1, y: top + offset), role: .textMuted, clip: area)
    }
  }

  private func field(_ row: FieldReview.Row, width: Int) -> Line {
    var line = Line(glyphs)
    line.skip(1)
    let (sign, role): (String, Role) =
      switch row.change {
      case .added: ("+", .diffAdded)
      case .modified: ("~", .diffModified)
      case .removed: ("-", .diffRemoved)
      case .computed: ("*", .flagPending)
      }
    line.cell(sign, role, width: 2)
    line.cell(row.name, .jsonKey, width: max(8, min(28, width * 30 / 100)))
    line.skip(1)
    // The new value keeps half of the room, however long the old one is.
    if let old = row.old {
      let room = max(4, (width - line.width) / 2 - 2)
      line.add(SafeText.truncated(old, to: room, ellipsis: glyphs.ellipsis), .textMuted)
      line.add(" \(glyphs.arrow) ", .textMuted)
    }
    line.add(row.new, row.change == .computed ? .flagPending : .text)
    return line
  }
}
