// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery

/// The tree's filter, set with `/`. The server evaluates the part that a query can express, so not all documents of the
/// collection are read. The client applies the rest to the documents that arrive.
package struct BrowserFilter: Hashable, Sendable {
  package let filter: RowFilter
  package private(set) var prefix = ""
  package private(set) var filters: [Filter] = []
  /// The field that has a range condition in the query. The documents are sorted by this field.
  package private(set) var range: FieldPath?
  /// The terms that a query cannot express.
  package private(set) var rest: [RowFilter.Term] = []

  package var text: String { filter.text }
  /// Whether the filter has terms that can only be evaluated by reading documents.
  package var searches: Bool { !rest.isEmpty }

  /// - Returns: `nil` for a filter that matches every document.
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

  /// Adds the conditions on one field to the query as a range. The field is the first one with a range condition.
  /// Ranges on more fields would need an index that Cloud Firestore does not create automatically.
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

  /// A filter for documents whose field has a given value of any type.
  package init(_ condition: FieldFilter, text: String) {
    filter = RowFilter(text: text, terms: [RowFilter.Term(condition: .field(condition))])
    filters = [.field(condition)]
  }

  /// Whether a query that is sorted by name can contain a condition.
  private static func canAsk(_ condition: FieldFilter) -> Bool { condition.op == .equal }

  /// Whether a document matches the whole filter, including the part in the query.
  func passesAll(_ document: Document) -> Bool { filter.matches(document.rowText, in: [document]) }

  /// Whether a document from the query's result matches the part of the filter that is not in the query.
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
  /// The text of a document that filters search: its id, then its values.
  var rowText: String {
    let values = data?.fields.entries.map { ColumnText.text(of: $0.value) } ?? []
    return ([key.documentID] + values).joined(separator: " ")
  }
}
