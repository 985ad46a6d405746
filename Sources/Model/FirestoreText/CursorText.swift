// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery

/// A position in a query's order, as `--start-at` and its like take it: the value of the first order, or a list of the
/// values of several; behind those of all orders may stand a document's id.
package enum CursorText {
  package static func parse(
    _ text: String, isInclusive: Bool, of query: Query, database: DatabaseID
  ) throws(TextError) -> Bound {
    let orders = query.orderBy
    func isName(_ index: Int) -> Bool { index < orders.count && orders[index].path.isDocumentID }
    var values: [Value]
    var cursor = TextCursor(text)
    cursor.skipSpace()
    if cursor.next == "[" {
      values = try ValueReader(database: database).list(&cursor, isName: isName)
      cursor.skipSpace()
      if !cursor.isAtEnd { throw TextError(column: cursor.column, "Expected nothing more after the list.") }
    } else {
      values = [try ValueReader(database: database, isName: isName(0)).value(of: text)]
    }
    if values.isEmpty { throw TextError("Expected at least one value.") }
    if values.count > orders.count {
      let named = orders.map(\.path.canonicalText).joined(separator: ", ")
      throw TextError("There are \(values.count) values, but the order is only by \(named).")
    }
    for index in values.indices where isName(index) {
      values[index] = try DocumentName.value(values[index], of: query, database)
    }
    return Bound(values: values, isInclusive: isInclusive)
  }
}
