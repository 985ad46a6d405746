// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery

/// A position in a query's order, as `--start-at` and its like take it: the value of the first order, or a list of the
/// values of several; behind those of all orders may stand a document's id.
enum CursorText {
  static func parse(
    _ text: String, isInclusive: Bool, of query: Query, database: DatabaseID
  ) throws(ArgumentError) -> Bound {
    let orders = query.orderBy
    func isName(_ index: Int) -> Bool { index < orders.count && orders[index].path.isDocumentID }
    var values: [Value]
    var cursor = TextCursor(text)
    cursor.skipSpace()
    if cursor.next == "[" {
      values = try ValueText(database: database).list(&cursor, isName: isName)
      cursor.skipSpace()
      if !cursor.isAtEnd { throw ArgumentError(column: cursor.column, "Expected nothing more after the list.") }
    } else {
      values = [try ValueText(database: database, isName: isName(0)).value(of: text)]
    }
    if values.isEmpty { throw ArgumentError("Expected at least one value.") }
    if values.count > orders.count {
      let named = orders.map(\.path.canonicalText).joined(separator: ", ")
      throw ArgumentError("There are \(values.count) values, but the order is only by \(named).")
    }
    for index in values.indices where isName(index) {
      values[index] = try DocumentName.value(values[index], of: query, database)
    }
    return Bound(values: values, isInclusive: isInclusive)
  }
}
