// SPDX-License-Identifier: Apache-2.0
package import DashboardModel
package import FirestoreClientState
package import FirestoreModel
import TerminalCanvas

/// The open document of pane 0.
package struct Detail: Sendable {
  package enum Tab: Int, CaseIterable, Hashable, Sendable {
    case data, diff, history, overlay, meta

    package var title: String {
      switch self {
      case .data: "Data"
      case .diff: "Diff"
      case .history: "History"
      case .overlay: "Overlay"
      case .meta: "Meta"
      }
    }
  }

  package let key: DocumentKey
  package var tab = Tab.data
  /// The backend's version of the document, as cached.
  package var remote: Document? { didSet { fieldLines = nil } }
  /// The queued writes, combined into one mutation.
  package var overlay: Mutation? { didSet { fieldLines = nil } }
  /// The document that listeners see.
  package var local: Document? { didSet { fieldLines = nil } }
  package var isLoaded = false { didSet { fieldLines = nil } }
  /// The reason why the server does not return the document; `nil` if it does, or has not responded.
  package var failure: RPCStatus? { didSet { fieldLines = nil } }
  /// The source of the document; `nil` if the client did not report it.
  package var source: DocumentSource?
  /// Whether this is only a preview from the tree's data, shown while the tree's cursor moves.
  package var isPreview = false { didSet { fieldLines = nil } }
  var folding = FieldTree.Folding.automatic { didSet { fieldLines = nil } }
  /// The fields that are folded although `folding` would unfold them, or the reverse.
  var toggled: Set<[String]> = [] { didSet { fieldLines = nil } }
  /// The version that the Diff tab shows; `nil` for the newest version.
  package var version: Int?
  /// The version that the Diff tab compares with; `nil` for the predecessor of the shown version.
  package var base: Int?
  /// Whether to wrap texts that are wider than their column.
  var wraps = false
  /// The filter of the search. `n` and `N` go to its matches.
  package var search = RowFilter.none
  /// The index of the selected line at the start of the search.
  var searchStart = 0
  package internal(set) var cursor = Cursor<[String]>()
  /// The lines of the fields. They are cached until the fields or their folding change, because a document can have
  /// very many fields.
  private(set) var fieldLines: [DetailContent.Line]?

  init(_ key: DocumentKey) { self.key = key }

  mutating func keepFieldLines() {
    if fieldLines == nil, tab == .data { fieldLines = DetailContent.fieldLines(of: self) }
  }

  /// Folds or unfolds all fields.
  package mutating func fold(_ folding: FieldTree.Folding) {
    self.folding = folding
    toggled = []
  }

  package var hasPendingWrites: Bool { overlay != nil || local?.hasPendingWrites == true }
}

/// The row of pane 0's tabs. Used for drawing and for mouse events.
package enum DetailTabs {
  package struct Tab {
    package var tab: Detail.Tab
    package var text: String
    package var columns: Range<Int>
  }

  package static func tabs(_ detail: Detail) -> [Tab] {
    var x = 0
    return Detail.Tab.allCases.map { tab in
      let text = tab == detail.tab ? "[\(tab.title)]" : " \(tab.title) "
      defer { x += text.count + 1 }
      return Tab(tab: tab, text: text, columns: x..<x + text.count)
    }
  }

  /// The row of the tabs in the pane; `nil` if only one tab has a name.
  static func row(_ layoutClass: LayoutClass) -> Int? {
    switch layoutClass {
    case .large, .medium: 0
    case .small: 1
    case .tiny, .line: nil
    }
  }
}

/// The columns of an open document. The server's column is visible only while a write is pending.
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

/// A field of the open document with its full text. The first line shows the start of the text, and lines below it show
/// the rest.
struct WrappedField {
  /// The maximum count of rows for one field, which limits the rows for a text of a megabyte.
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

  /// Splits a text. Returns the whole text if it fits in `width` columns. Otherwise returns the part that fits in
  /// `kept` columns, and the rest.
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

extension ConnectedBackend {
  /// The address of a document in a browser: in the Cloud Firestore console, or in an emulator's REST API; `nil` for
  /// other backends.
  package func address(of key: DocumentKey) -> String? {
    switch kind {
    case .embedded: return nil
    case .cloud:
      // The console names the default database without parentheses, and separates path segments with ~2F.
      let name = database == "(default)" ? "-default-" : Self.escaped(database)
      let path = key.path.segments.map { "~2F" + Self.escaped(String($0)).replacing("%", with: "~") }.joined()
      return
        "https://console.firebase.google.com/project/\(Self.escaped(project))/firestore/databases/\(name)/data/\(path)"
    case .emulator:
      guard let host else { return nil }
      let path = key.path.segments.map { Self.escaped(String($0)) }.joined(separator: "/")
      return "\(isTLS ? "https" : "http")://\(host)/v1/projects/\(Self.escaped(project))/databases/"
        + "\(database)/documents/\(path)"
    }
  }

  /// Escapes everything but letters, digits and `-._~` as `%XX` (RFC 3986).
  private static func escaped(_ text: String) -> String {
    text.utf8.map { byte in
      let character = Character(Unicode.Scalar(byte))
      let isPlain = byte < 0x80 && (character.isLetter || character.isNumber || "-._~".contains(character))
      let hex = String(byte, radix: 16, uppercase: true)
      return isPlain ? String(character) : "%" + (byte < 16 ? "0" : "") + hex
    }.joined()
  }
}
