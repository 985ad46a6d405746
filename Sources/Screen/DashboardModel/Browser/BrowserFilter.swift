// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery

/// The filter that `/` sets in the tree: the part that the query of a window asks for, so that a collection of any size
/// is filtered without reading it, and the part that is checked on the documents that arrive.
package struct BrowserFilter: Hashable, Sendable {
  package let filter: RowFilter
  package private(set) var prefix = ""
  package private(set) var filters: [Filter] = []
  /// The field whose range is asked for: the documents come in the order of its values.
  package private(set) var range: FieldPath?
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
    if filters.isEmpty, prefix.isEmpty { askForRange() }
  }

  /// Asks for the conditions on the first field that has a range. One field alone, since a query for more needs an
  /// index that Cloud Firestore does not make by itself.
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

  /// Whether a query in the order of names can ask for a condition.
  private static func canAsk(_ condition: FieldFilter) -> Bool { condition.op == .equal }

  /// Whether any document passes, whether the query has found it or not.
  func passesAll(_ document: Document) -> Bool { filter.matches(document.rowText, in: [document]) }

  /// Whether a document that the query has found passes.
  package func passes(_ document: Document) -> Bool {
    if rest.isEmpty { return true }
    return RowFilter(text: text, terms: rest).matches(document.rowText, in: [document])
  }
}

extension Value {
  /// Whether a query can ask for the values on one side of this one.
  fileprivate var hasRange: Bool { if case .double(let number) = self { !number.isNaN } else { self != .null } }
}

extension Document {
  /// The text of a document in a list that a filter sees: its id, then its values.
  var rowText: String {
    let values = data?.fields.entries.map { ColumnText.text(of: $0.value) } ?? []
    return ([key.documentID] + values).joined(separator: " ")
  }
}
