// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery

/// The tree's filter, set with `/`. The window's query applies one part, so a collection of any size is filtered
/// without reading it. The client applies the rest to the documents that arrive.
package struct BrowserFilter: Hashable, Sendable {
  package let filter: RowFilter
  package private(set) var prefix = ""
  package private(set) var filters: [Filter] = []
  /// The field with a range condition in the query. The documents are in the order of its values.
  package private(set) var range: FieldPath?
  /// The terms that a query cannot express.
  package private(set) var rest: [RowFilter.Term] = []

  package var text: String { filter.text }
  /// Whether the filter requires reading documents.
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
    if filters.isEmpty, prefix.isEmpty { askForRange() }
  }

  /// Moves the conditions on the first field with a range to the query. Uses one field only, because a query on more
  /// fields needs an index that Cloud Firestore does not create automatically.
  private mutating func askForRange() {
    for term in rest where !term.isExcluded {
      guard case .field(let condition) = term.condition, condition.op.isInequality, condition.value.hasRange,
        range == nil || range == condition.path
      else { continue }
      range = condition.path
      filters.append(.field(condition))
    }
    rest.removeAll { term in
      if case .field(let condition) = term.condition, !term.isExcluded {
        filters.contains(.field(condition))
      } else {
        false
      }
    }
  }

  /// A filter for the documents with one value, of any type.
  package init(_ condition: FieldFilter, text: String) {
    filter = RowFilter(text: text, terms: [RowFilter.Term(condition: .field(condition))])
    filters = [.field(condition)]
  }

  /// Whether a query in name order can express a condition.
  private static func canAsk(_ condition: FieldFilter) -> Bool { condition.op == .equal }

  /// Whether a document passes the whole filter, including the query's part.
  func passesAll(_ document: Document) -> Bool { filter.matches(document.rowText, in: [document]) }

  /// Whether a document from the query's result passes the rest of the filter.
  package func passes(_ document: Document) -> Bool {
    if rest.isEmpty { return true }
    return RowFilter(text: text, terms: rest).matches(document.rowText, in: [document])
  }
}

extension Value {
  /// Whether a query can have a range condition with this value.
  fileprivate var hasRange: Bool { if case .double(let number) = self { !number.isNaN } else { self != .null } }
}

extension Document {
  /// A document's text for the filter of a list: its id, then its values.
  var rowText: String {
    let values = data?.fields.entries.map { ColumnText.text(of: $0.value) } ?? []
    return ([key.documentID] + values).joined(separator: " ")
  }
}
