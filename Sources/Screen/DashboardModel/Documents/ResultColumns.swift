// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery
import TerminalCanvas

/// The columns of a result: the fields in its `orderBy` clauses and conditions, then fields that change, then the most
/// informative fields. The columns are chosen again only if another field begins to change. Longer values are
/// truncated.
package struct ResultColumns: Sendable {
  package struct Column: Hashable, Sendable {
    package var path: FieldPath
    package var width: Int
    package var isNumber: Bool
    /// The maximum width if the row has free space, which is reserved for longer values.
    var reserve = 0
    /// The sort direction, if the result is sorted by the field.
    package var direction: OrderBy.Direction?

    package var name: String { path.segments.joined(separator: ".") }
    /// The width of the name, including the sign of the sort order.
    package var nameWidth: Int { SafeText.columns(of: name) + (direction == nil ? 0 : 1) }
  }

  private static let most = 8
  private static let widest = 24
  private static let usualText = 9
  /// The count of documents that determine the column widths.
  private static let sample = 200
  /// The columns are chosen again if they were chosen from fewer documents than this and more documents have arrived.
  private static let settled = 4

  package private(set) var columns: [Column] = []
  package private(set) var idWidth = 2
  private let asked: [FieldPath]
  /// The fields that have the same value in all documents of the result.
  private let constant: [FieldPath]
  private let directions: [FieldPath: OrderBy.Direction]
  private var decidedFor = 0
  /// The fields that have changed, in the order of their first change.
  private var changing: [String] = []

  init(_ query: Query) {
    let orders = query.orderBy.filter { !$0.path.isDocumentID }
    // A field with an equality condition is in the title, so it needs no column.
    let equalities = query.filters.compactMap { filter -> FieldPath? in
      if case .field(let filter) = filter, filter.op == .equal { filter.path } else { nil }
    }
    let conditions = query.filters.flatMap(\.fieldFilters).map(\.path).filter {
      !$0.isDocumentID && !equalities.contains($0)
    }
    var seen: Set<FieldPath> = []
    let asked = (orders.map(\.path) + conditions).filter { seen.insert($0).inserted }
    constant = equalities.filter { !asked.contains($0) }
    self.asked = asked
    directions = Dictionary(orders.map { ($0.path, $0.direction) }, uniquingKeysWith: { first, _ in first })
    columns = asked.prefix(Self.most).map {
      Column(path: $0, width: 0, isNumber: false, direction: directions[$0])
    }
  }

  mutating func decide(for documents: DocumentSet, _ statistics: FieldStatistics) {
    let late = statistics.changing.filter { !changing.contains($0) }
    guard !late.isEmpty || decidedFor < Self.settled && documents.count > decidedFor else { return }
    decidedFor = documents.count
    changing += late
    let sample = Array(documents.prefix(Self.sample))
    // The order is: fields of the query, fields that change, other fields.
    let old = Dictionary(columns.map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
    let telling = statistics.byInterest.filter { name in
      let kind = statistics.fields[name]?.kind
      return kind != .container && kind != .other
    }
    var paths = asked
    for path in changing.map({ FieldPath($0) }) + columns.map(\.path) + telling.map({ FieldPath($0) })
    where !paths.contains(where: { $0.first.equalsUTF8(path.first) }) && !constant.contains(path) {
      paths.append(path)
    }
    columns = paths.prefix(Self.most).map {
      old[$0] ?? Column(path: $0, width: 0, isNumber: false, direction: directions[$0])
    }
    for index in columns.indices {
      let values = sample.compactMap { $0.data?[columns[index].path] }
      columns[index].isNumber = values.first?.isNumber ?? false
      let widest = values.map { ColumnText.width(of: $0, limit: Self.widest) }.max() ?? 0
      columns[index].width = max(columns[index].width, widest, min(Self.widest, columns[index].nameWidth))
      columns[index].reserve = values.contains { if case .string = $0 { true } else { false } } ? Self.usualText : 0
    }
    idWidth = max(idWidth, min(20, sample.map { SafeText.columns(of: $0.key.documentID) }.max() ?? 0))
  }

  /// The columns that fit, and the width of the id.
  package func fitting(room: Int) -> (idWidth: Int, columns: [Column]) {
    let shortest = min(idWidth, 8)
    var left = room - shortest
    var shown: [Column] = []
    for column in columns where column.width > 0 {
      guard column.width + 2 <= left else {
        // A field of the query is truncated rather than omitted.
        if asked.contains(column.path), left >= 8 {
          var cut = column
          cut.width = left - 2
          shown.append(cut)
          left = 0
        }
        break
      }
      shown.append(column)
      left -= column.width + 2
    }
    for index in shown.indices {
      let more = max(0, min(left, shown[index].reserve - shown[index].width))
      shown[index].width += more
      left -= more
    }
    return (max(1, min(idWidth, shortest + max(0, left))), shown)
  }
}
