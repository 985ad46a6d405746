// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
package import FirestoreQuery
import FirestoreText

/// Names why the editor's text is not a listener yet.
package struct ListenerEditorError: Error, Hashable {
  package var reason: String
}

/// The meaning of what stands in the editor.
extension ListenerEditor {
  package var options: ListenerOptions {
    ListenerOptions(includeMetadataChanges: includesMetadata, source: source)
  }

  /// The query in the editor, validated as Firestore would.
  package func query(in database: DatabaseID) throws(ListenerEditorError) -> Query {
    var query = try place()
    for clause in clauses where !clause.isEmpty {
      query.filters += try read("where", clause.text) { text throws(TextError) in
        try ConditionText.parse(text, of: query, database: database)
      }
    }
    if !order.text.trimmed.isEmpty { query.explicitOrderBy = try read("order by", order.text, OrderText.parse) }
    if query.path.isDocument, !isGroup, !query.filters.isEmpty || !query.explicitOrderBy.isEmpty || !limit.isEmpty {
      throw ListenerEditorError(reason: "a document listener has no clauses, order or limit")
    }
    try readLimit(into: &query)
    do throws(QueryError) { try query.validate() } catch { throw ListenerEditorError(reason: error.message) }
    return query
  }

  private func place() throws(ListenerEditorError) -> Query {
    if from.isEmpty { throw ListenerEditorError(reason: "from: type a collection, such as orders") }
    do throws(ModelError) {
      let path = try ResourcePath(validating: from.text)
      guard isGroup else { return Query(path: path) }
      guard path.count == 1 else { throw ModelError("a collection group is one id, such as \(path.last)") }
      return Query(path: .root, collectionGroup: path.text)
    } catch { throw ListenerEditorError(reason: error.message) }
  }

  /// A number, or `last` and a number: so many from the end of the order.
  private func readLimit(into query: inout Query) throws(ListenerEditorError) {
    let words = limit.text.split(whereSeparator: \.isWhitespace)
    guard !words.isEmpty else { return }
    let isLast = words.count == 2 && words[0].lowercased() == "last"
    let number = isLast ? String(words[1]) : limit.text.trimmed
    query.limit = try read("limit", number, LimitText.parse)
    if isLast { query.limitType = .last }
  }

  /// - Parameter name: how an error names the text.
  private func read<Result>(
    _ name: String, _ text: String, _ parse: (String) throws(TextError) -> Result
  ) throws(ListenerEditorError) -> Result {
    do throws(TextError) { return try parse(text) } catch {
      // The reason comes first: a narrow screen cuts the end.
      let place = error.column.map { ", column \($0)" } ?? ""
      throw ListenerEditorError(reason: "\(error.reason) (\(name) '\(text.trimmed)'\(place))")
    }
  }
}
