// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import TerminalCanvas

/// The columns of a collection's documents, and their widths. Columns keep their order during the session. New fields
/// are appended if there is space. Longer values widen a column only if all other columns remain on screen.
package struct TreeColumns: Sendable {
  package struct Column: Hashable, Sendable {
    package var name: String
    package var width: Int
    /// Whether the column may be narrower than its values. It then uses the rest of the row.
    var isText: Bool
    package var isNumber = false
    /// The maximum width if the row has free space, which is reserved for longer values.
    package var reserve = 0
    /// The width of the widest observed value. The column gets this width if the row has free space.
    package var natural = 0
    /// Whether the column was added when other columns were already on screen.
    var isLate = false
  }

  private static let mostColumns = 8
  /// The count of columns that most screens have space for.
  private static let alwaysShown = 2
  private static let widest = 20
  private static let widestText = 40
  /// Columns of texts up to this width are treated like columns of numbers.
  private static let shortText = 12

  /// The columns in display order.
  package private(set) var columns: [Column] = []
  /// The less informative fields: fields with constant or rare values, arrays and maps. On wide screens they use the
  /// space that `columns` leave free.
  private var others: [Column] = []
  /// The width of the widest id, limited to a maximum. It is at least the width of the heading `id▲`.
  package private(set) var idWidth = 3
  /// The fields that you selected as columns; `nil` if the columns are chosen automatically.
  package var picked: [String]?
  /// The fields that have changed. They are among the first columns.
  private var leading: [String] = []

  package init() {}
  /// The document count when the columns were last chosen.
  private var documentCount = 0
  /// The color number of each value, for fields with few values.
  private var hues: [String: [String: Int]] = [:]

  /// Chooses the columns if the documents are from another part of the collection, or if there are many more documents
  /// than before. Existing columns do not move.
  package mutating func decide(for documents: [Document], _ statistics: FieldStatistics) {
    guard !documents.isEmpty else { return }
    // The first documents with enough information fix the widths.
    let isSettled = documentCount >= Self.settled
    documentCount = max(documentCount, documents.count)
    if !isSettled {
      idWidth = max(idWidth, min(Self.widest, documents.map { SafeText.columns(of: $0.key.documentID) }.max() ?? 0))
    }
    arrange(picked ?? columns.map(\.name), statistics)
    widen(for: documents, isSettled: isSettled)
  }

  private static let settled = 4

  /// Whether the document count has doubled since the columns were last chosen, or another field has begun to change.
  func isOutgrown(by count: Int, _ statistics: FieldStatistics) -> Bool {
    if documentCount == 0 ? count > 0 : count >= documentCount * 2 { return true }
    return picked == nil && statistics.changing.contains { !leading.contains($0) }
  }

  /// Shows the fields that you selected as columns. With `nil`, the columns are chosen automatically again.
  package mutating func pick(_ names: [String]?, _ documents: [Document], _ statistics: FieldStatistics) {
    picked = names
    columns = []
    arrange(names ?? [], statistics)
    widen(for: documents, isSettled: false)
  }

  /// The columns with some fields first, such as the fields of a filter. A field without a column gets one.
  package func leading(with names: [String], _ statistics: FieldStatistics) -> TreeColumns {
    if names.isEmpty { return self }
    var result = self
    let known = Dictionary((columns + others).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    let first = names.map { name in
      var column = known[name] ?? Self.column(name, statistics.fields[name])
      column.isLate = false
      column.natural = max(column.natural, min(Self.widest, statistics.fields[name]?.width ?? 0))
      column.width = max(column.width, column.natural)
      return column
    }
    result.columns = first + columns.filter { !names.contains($0.name) }
    result.others.removeAll { names.contains($0.name) }
    return result
  }

  private mutating func arrange(_ kept: [String], _ statistics: FieldStatistics) {
    var automatic = kept + statistics.worthColumns.filter { !kept.contains($0) }
    for name in statistics.changing where !leading.contains(name) {
      // One of the first columns has room on every screen and stays.
      if let place = automatic.firstIndex(of: name), place >= Self.alwaysShown || kept.isEmpty {
        automatic.remove(at: place)
        automatic.insert(name, at: automatic.prefix { leading.contains($0) }.count)
      } else if !automatic.contains(name) {
        automatic.insert(name, at: automatic.prefix { leading.contains($0) }.count)
      }
      leading.append(name)
    }
    let names = picked ?? automatic
    let old = Dictionary(columns.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    columns = names.prefix(Self.mostColumns).map { name in
      if let column = old[name] { return column }
      var column = Self.column(name, statistics.fields[name])
      column.isLate = !old.isEmpty && !leading.contains(name)
      return column
    }
    arrangeOthers(statistics)
    for column in columns {
      guard let field = statistics.fields[column.name], field.isEnumeration else { continue }
      for value in field.values.sorted() { note(value, of: column.name) }
    }
  }

  private static func column(_ name: String, _ field: FieldStatistics.Field?) -> Column {
    let isText = field?.kind == .text && (field?.width ?? 0) > shortText && field?.isEnumeration != true
    let isNumber = field?.kind == .number
    // The reserve makes room for the name above the column, and for later values.
    let reserve = max(field?.kind == .text ? 9 : isNumber ? 6 : 0, min(12, SafeText.columns(of: name)))
    return Column(name: name, width: 0, isText: isText, isNumber: isNumber, reserve: reserve)
  }

  /// Arranges the fields that are not columns. Those that were already arranged keep their order, and new fields are
  /// appended.
  private mutating func arrangeOthers(_ statistics: FieldStatistics) {
    let shown = Set(columns.map(\.name))
    let known = picked == nil ? others.map(\.name) : []
    let names = picked == nil ? known + statistics.byInterest.filter { !known.contains($0) } : []
    let old = Dictionary(others.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    others = names.filter { !shown.contains($0) }.prefix(Self.mostColumns).map { name in
      let field = statistics.fields[name]
      var column = old[name] ?? Self.column(name, field)
      column.isText = column.isText || field?.kind == .container
      return column
    }
  }

  /// - Parameter isSettled: whether existing columns keep their width.
  private mutating func widen(for documents: [Document], isSettled: Bool) {
    for index in columns.indices {
      let isText = columns[index].isText
      Self.widen(&columns[index], for: documents, isSettled: isSettled, limit: isText ? Self.widestText : Self.widest)
    }
    for index in others.indices {
      Self.widen(&others[index], for: documents, isSettled: isSettled, limit: Self.widestText)
    }
    if picked == nil { columns.removeAll { $0.natural == 0 } }
    others.removeAll { $0.natural == 0 }
  }

  private static func widen(_ column: inout Column, for documents: [Document], isSettled: Bool, limit: Int) {
    let path = FieldPath(column.name)
    let widths = documents.lazy.compactMap { $0.data?[path] }.map { ColumnText.width(of: $0, limit: limit) }
    column.natural = max(column.natural, min(limit, widths.max() ?? 0))
    if !isSettled || column.width == 0 { column.width = column.natural }
  }

  // MARK: Hues

  /// Assigns a color number to a value, if its field has few values.
  private mutating func note(_ value: String, of name: String) {
    var known = hues[name] ?? [:]
    guard known[value] == nil else { return }
    // A value has the same hue every day, unless another value took it first.
    let wanted = Int(value.utf8.reduce(UInt32(5381)) { ($0 << 5) &+ $0 &+ UInt32($1) } % UInt32(Role.valueHues))
    let taken = Set(known.values)
    let free = (0..<Role.valueHues).map { (wanted + $0) % Role.valueHues }.first { !taken.contains($0) }
    known[value] = free ?? wanted
    hues[name] = known
  }

  /// The color number of a value; `nil` unless its field has few values.
  package func hue(of value: Value, in name: String) -> Int? {
    guard let known = hues[name], case .string(let text) = value else { return nil }
    return known[text]
  }

  /// Assigns color numbers to new values.
  package mutating func note(_ document: Document) {
    for name in hues.keys {
      if case .string(let text)? = document.data?[FieldPath(name)], text.utf8.count <= 32 { note(text, of: name) }
    }
  }
}

extension TreeColumns {
  private static let leastText = 5

  /// Moves reserved space from other columns to the columns whose values need more space now.
  private static func share(_ shown: inout [Column]) {
    for index in shown.indices where !shown[index].isText {
      var lacking = shown[index].natural - shown[index].width
      for other in shown.indices.reversed() where other != index && !shown[other].isText && lacking > 0 {
        let needed = max(shown[other].natural, SafeText.columns(of: shown[other].name) + 1)
        let given = max(0, min(lacking, shown[other].width - needed))
        shown[other].width -= given
        shown[index].width += given
        lacking -= given
      }
      // A truncated text is still informative; a truncated number is not.
      for other in shown.indices.reversed() where shown[index].isNumber && !shown[other].isNumber && lacking > 0 {
        let given = max(0, min(lacking, shown[other].width - Self.leastText))
        shown[other].width -= given
        shown[index].width += given
        lacking -= given
      }
    }
  }

  private static let shortestText = 10

  /// Widens columns so that their names and the sign of the sort order fit. The space is taken from the rest of the
  /// row, or from text columns that are wider than needed for reading.
  private static func uncover(_ shown: inout [Column], _ left: inout Int) {
    for index in shown.indices where !shown[index].isText {
      var lacking = min(widest, SafeText.columns(of: shown[index].name) + 1) - shown[index].width
      let free = max(0, min(lacking, left))
      shown[index].width += free
      left -= free
      lacking -= free
      for text in shown.indices where shown[text].isText && lacking > 0 {
        let given = max(0, min(lacking, shown[text].width - shortestText))
        shown[text].width -= given
        shown[index].width += given
        lacking -= given
      }
    }
  }

  /// The less informative fields that fit next to the columns.
  private func other(_ left: inout Int) -> [Column] {
    var more: [Column] = []
    for var column in others {
      let head = min(Self.widest, SafeText.columns(of: column.name) + 1)
      column.width = max(column.width, column.natural, head)
      // A truncated text, array or map is still informative.
      if column.isText { column.width = min(column.width, max(head, left - 2)) }
      guard column.width + 2 <= left, !column.isText || column.width >= Self.shortestText else { continue }
      more.append(column)
      left -= column.width + 2
    }
    return more
  }

  /// The columns that fit into a row, and the remaining width for the id. Depends only on the available width.
  package struct Fitting: Hashable, Sendable {
    package var idWidth: Int
    package var columns: [Column]
  }

  /// - Parameters:
  ///   - room: the width available for the id and all values, in columns of the screen.
  ///   - wanted: the count of value columns that are shown even if the ids must be truncated.
  ///   - takesOthers: whether the less informative fields use the remaining space.
  package func fitting(room: Int, wanted: Int, takesOthers: Bool = false) -> Fitting {
    let shortest = min(idWidth, 10)
    var left = room - shortest
    var shown: [Column] = []
    for column in columns {
      // Values beyond the wanted count get a column only if the others still have room for longer values.
      let later = shown.reduce(0) { $0 + max(0, max($1.reserve, $1.natural) - $1.width) }
      // The first column is the one that changes, so it keeps room for its longer values.
      let first = shown.first.map { max(0, $0.reserve - $0.width) } ?? 0
      let spare = shown.count < wanted ? left - first : left - (idWidth - shortest) - later
      if column.width + 2 <= spare {
        shown.append(column)
        left -= column.width + 2
      } else if column.isText, spare >= 10 {
        shown.append(Column(name: column.name, width: spare - 2, isText: true))
        left -= spare
      }
    }
    // Short columns come first, with their names: a part of an id is enough to identify it.
    Self.uncover(&shown, &left)
    for index in shown.indices where !shown[index].isText {
      let more = max(0, min(left, shown[index].reserve - shown[index].width))
      shown[index].width += more
      left -= more
    }
    // Long texts come last and use the rest. Columns that were added later stay after the earlier ones.
    shown =
      shown.filter { !$0.isText && !$0.isLate } + shown.filter { $0.isText && !$0.isLate } + shown.filter(\.isLate)
    let id = min(idWidth, shortest + max(0, left))
    left -= id - shortest
    for index in shown.indices where !shown[index].isText {
      let more = max(0, min(left, shown[index].natural - shown[index].width))
      shown[index].width += more
      left -= more
    }
    Self.share(&shown)
    if takesOthers { shown += other(&left) }
    if let last = shown.lastIndex(where: \.isText) { shown[last].width += max(0, left) }
    return Fitting(idWidth: max(1, id), columns: shown)
  }
}
