// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import TerminalCanvas

/// A field of the open document with all of its text: the line itself, and the rest in lines below it.
struct WrappedField {
  /// A text of a megabyte is no reason to build as many lines as it has.
  private static let mostRows = 200

  let lines: [DetailContent.Line]

  init(_ line: DetailContent.Line, _ detail: Detail, _ state: DashboardState) {
    guard case .field(let field) = line.content, case .string(let text)? = field.local ?? field.server else {
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
    // The line above ends in an ellipsis, which takes one column.
    var rest = Self.split(Substring("\"\(text.prefix(width * Self.mostRows))\""), width: width, kept: width - 1).rest
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
