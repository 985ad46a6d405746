// SPDX-License-Identifier: Apache-2.0
package import DashboardModel
import FirestoreModel
import TerminalCanvas

/// The columns of an open document. The server's column is there only while something is pending.
package struct DetailColumns {
  package var name: Int
  package var value: Int
  package var server: Int
  package var queued: Int
  package var batch: Int

  package init(_ detail: Detail, _ layoutClass: LayoutClass, width: Int) {
    let isTiny = layoutClass == .tiny || layoutClass == .line
    let room = width - 4
    name = max(8, min(24, room * (isTiny ? 40 : 30) / 100))
    batch = 0
    queued = 0
    switch detail.tab {
    case .overlay:
      if isTiny { name = 9 }
      let rest = max(3, room - name)
      server = rest / 3
      queued = rest / 3
      value = rest - server - queued
    case .data where detail.hasPendingWrites && !detail.isPreview && !isTiny:
      batch = 7
      let rest = max(2, room - name - batch)
      server = rest * 45 / 100
      value = rest - server
    case .diff:
      let rest = max(2, room - name)
      server = rest / 2
      value = rest - server
    case .data, .history, .meta:
      server = 0
      value = max(1, room - name)
    }
  }
}

/// A field of the open document with all of its text: the line itself, and the rest in lines below it.
struct WrappedField {
  /// A text of a megabyte is no reason to build as many lines as it has.
  private static let mostRows = 200

  let lines: [DetailContent.Line]

  init(_ line: DetailContent.Line, _ detail: Detail, _ state: DashboardState) {
    guard case .field(let field) = line.content, let value = field.local ?? field.server else {
      lines = [line]
      return
    }
    let layout = state.layout(state.size)
    let columns = DetailColumns(detail, layout.layoutClass, width: layout.content(of: .detail).width)
    let width = columns.value - 1
    guard width > 1 else {
      lines = [line]
      return
    }
    var rest: Substring
    if case .string(let text) = value {
      // The line above ends in an ellipsis, which takes one column.
      rest = Self.split(Substring("\"\(text.prefix(width * Self.mostRows))\""), width: width, kept: width - 1).rest
    } else if let full = ValueText.full(value), ValueText.readable(value) != full || full.count > width {
      rest = full.prefix(width * Self.mostRows)
    } else {
      rest = ""
    }
    var rows: [DetailContent.Line] = []
    while !rest.isEmpty, rows.count < Self.mostRows {
      let (row, more) = Self.split(rest, width: width, kept: width)
      rows.append(DetailContent.Line(id: line.id + ["rest", "\(rows.count)"], content: .rest(String(row))))
      rest = more
    }
    lines = [line] + rows
  }

  /// The beginning of a text that fits, or what of it is shown if it does not.
  private static func split(_ text: Substring, width: Int, kept: Int) -> (Substring, rest: Substring) {
    var (columns, end, cut) = (0, text.startIndex, text.startIndex)
    while end < text.endIndex {
      let next = text.index(after: end)
      columns += SafeText.columns(of: String(text[end..<next]))
      if columns > width { return (text[..<cut], text[cut...]) }
      end = next
      if columns <= kept { cut = next }
    }
    return (text, "")
  }
}
