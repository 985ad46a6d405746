// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery

/// The filter that `/` sets in the tree: the part that the query of a window asks for, so that a collection of any size
/// is filtered without reading it, and the part that is checked on the documents that arrive.
package struct BrowserFilter: Hashable, Sendable {
  /// The number of documents read before the user has to ask for more: reading them may cost money.
  package static let searchedAtOnce = 1000

  package let filter: RowFilter
  package private(set) var prefix = ""
  package private(set) var filters: [Filter] = []
  /// The terms that no query can ask for.
  package private(set) var rest: [RowFilter.Term] = []

  package var text: String { filter.text }
  /// Whether documents have to be read to be found.
  package var searches: Bool { !rest.isEmpty }

  /// - Returns: `nil` for a filter that every document passes.
  package init?(_ filter: RowFilter) {
    if filter.isEmpty { return nil }
    self.filter = filter
    for term in filter.terms {
      switch term.condition {
      case .field(let condition) where !term.isExcluded && Self.canAsk(condition):
        filters.append(.field(condition))
      case .begins(let start) where !term.isExcluded && prefix.isEmpty: prefix = start
      default: rest.append(term)
      }
    }
  }

  /// A filter for the documents with one value, of any type.
  package init(_ condition: FieldFilter, text: String) {
    filter = RowFilter(text: text, terms: [RowFilter.Term(condition: .field(condition))])
    filters = [.field(condition)]
  }

  /// Whether a query in the order of names can ask for a condition; a range would come in the order of its values.
  private static func canAsk(_ condition: FieldFilter) -> Bool { condition.op == .equal }

  /// Whether a document that the query has found passes.
  package func passes(_ document: Document) -> Bool {
    if rest.isEmpty { return true }
    return RowFilter(text: text, terms: rest).matches(document.rowText, in: [document])
  }
}

extension Document {
  /// The text of a document in a list that a filter sees: its id, then its values.
  var rowText: String {
    let values = data?.fields.entries.map { ColumnText.text(of: $0.value) } ?? []
    return ([key.documentID] + values).joined(separator: " ")
  }
}
