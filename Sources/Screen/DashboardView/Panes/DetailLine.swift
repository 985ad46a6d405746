// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreModel
import TerminalCanvas

/// One row of an open document. The first column is the gutter, the second the change glyph.
struct DetailLine {
  let line: DetailContent.Line
  let columns: DetailColumns
  let batch: String
  let frame: FrameState
  let glyphs: Glyphs

  var drawn: Line {
    var drawn = Line(glyphs)
    drawn.skip(1)
    switch line.content {
    case .field(let field): add(field, to: &drawn)
    case .change(let change): add(change, to: &drawn)
    case .version(let version): add(version, to: &drawn)
    case .layers(let name, let server, let queued, let seen):
      let isQueued = queued != nil
      drawn.cell(isQueued ? "~" : "", .diffModified, width: 3)
      drawn.cell(name, .jsonKey, width: columns.name)
      cell(server, width: columns.server, to: &drawn)
      drawn.cell(queued ?? "", .flagPending, width: columns.queued - 1)
      drawn.skip(1)
      cell(seen, width: columns.value, to: &drawn)
    case .fact(let name, let text):
      drawn.skip(3)
      drawn.cell(name, .textMuted, width: columns.name)
      drawn.add(text)
    case .rest(let text):
      drawn.skip(columns.name + 3)
      drawn.add(text, .jsonString)
    case .note(let text):
      drawn.skip(3)
      drawn.add(text, .textMuted)
    }
    return drawn
  }

  private func add(_ field: FieldTree.Line, to drawn: inout Line) {
    drawn.cell(field.change.letter, field.change.role, width: 1)
    let indent = min(field.depth * 2, columns.name / 2)
    drawn.skip(1 + indent)
    drawn.cell(field.isOpen.map { $0 ? glyphs.unfolded : glyphs.folded } ?? "", .accent, width: 2)
    let isIndex = field.path.count > 1 && field.name.allSatisfy(\.isNumber)
    drawn.cell(field.name, isIndex ? .jsonPunct : .jsonKey, width: columns.name - indent - 2)
    drawn.skip(1)
    let shown = field.local ?? (columns.server > 0 ? nil : field.server)
    cell(shown, width: columns.value, to: &drawn)
    guard columns.server > 0, field.change != .none else { return }
    if field.isOpen == true, field.server != nil, field.local != nil {
      drawn.skip(columns.server)
    } else {
      cell(field.server, width: columns.server, to: &drawn)
    }
    drawn.cell(batch, .flagPending, width: columns.batch)
  }

  private func add(_ change: FieldChange, to drawn: inout Line) {
    let kind: FieldTree.Line.Change = change.old == nil ? .added : change.new == nil ? .removed : .modified
    drawn.cell(kind.letter, kind.role, width: 3)
    drawn.cell(change.path.canonicalText, .jsonKey, width: columns.name - 1)
    drawn.skip(1)
    cell(change.old, width: columns.server, to: &drawn)
    cell(change.new, width: columns.value, to: &drawn)
  }

  private func add(_ version: VersionHistory.Version, to drawn: inout Line) {
    let isConflict = frame.state.writes.conflicts.contains { $0.key == version.key && $0.batch == version.acknowledges }
    let kind = isConflict ? .conflict : version.kind
    drawn.cell(kind.letter, kind.role, width: 3)
    let isWide = columns.name + columns.value >= 50
    let precision: TimeText.Precision = isWide ? .hours : .minutes
    drawn.add(
      TimeText.milliseconds(version.time, offset: frame.state.configuration.utcOffset, from: precision), .textMuted)
    drawn.skip(2)
    drawn.cell(
      isWide ? (version.isLocal ? "LOCAL" : "SERVER") : version.isLocal ? "L" : "S",
      version.isLocal ? .sourceLocal : .sourceServer, width: isWide ? 8 : 2)
    if let batch = version.batch {
      drawn.add(batch.description, .flagPending)
      drawn.skip(2)
    }
    if frame.state.detail?.key == version.key, frame.state.detail?.base == version.id {
      drawn.add("from here  ", .mark)
    }
    if isConflict { drawn.add("conflict \(glyphs.bullet) ", .warn) }
    drawn.add(version.summary)
    if let why = version.why { drawn.add(" \(glyphs.bullet) \(why)", .textMuted) }
  }

  private func cell(_ value: Value?, width: Int, to drawn: inout Line) {
    drawn.cell(value.map(ValueText.readable) ?? glyphs.dash, value?.role ?? .textMuted, width: max(0, width - 1))
    drawn.skip(min(1, width))
  }
}

extension FieldTree.Line.Change {
  fileprivate var letter: String {
    switch self {
    case .none: ""
    case .added: "+"
    case .modified: "~"
    case .removed: "-"
    }
  }

  fileprivate var role: Role {
    switch self {
    case .none: .diffContext
    case .added: .diffAdded
    case .modified: .diffModified
    case .removed: .diffRemoved
    }
  }
}
