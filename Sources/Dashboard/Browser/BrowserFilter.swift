// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery

/// What `/` means in the tree: the part of a filter that the query of a window asks for, so that a collection of any
/// size is filtered without reading it, and the part that is looked for in the documents that come.
struct BrowserFilter: Hashable, Sendable {
  /// How many documents are looked at before the user has to ask for more: reading them may cost money.
  static let searchedAtOnce = 1000

  let filter: RowFilter
  private(set) var prefix = ""
  private(set) var filters: [Filter] = []
  /// What no query can ask.
  private(set) var rest: [RowFilter.Term] = []

  var text: String { filter.text }
  /// Whether documents have to be read to be found.
  var searches: Bool { !rest.isEmpty }

  /// - Returns: `nil` for a filter that lets everything pass.
  init?(_ filter: RowFilter) {
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

  /// The documents with one value, of whatever type.
  init(_ condition: FieldFilter, text: String) {
    filter = RowFilter(text: text, terms: [RowFilter.Term(condition: .field(condition))])
    filters = [.field(condition)]
  }

  /// A query in the order of names may not ask for a range of values: that comes in the order of the values.
  private static func canAsk(_ condition: FieldFilter) -> Bool { condition.op == .equal }

  /// Whether a document that the query has found passes.
  func passes(_ document: Document) -> Bool {
    if rest.isEmpty { return true }
    return RowFilter(text: text, terms: rest).matches(document.rowText, in: [document])
  }
}

extension Document {
  /// What a filter sees of a document in a list: its id, then its values.
  var rowText: String {
    let values = data?.fields.entries.map { ColumnText.text(of: $0.value) } ?? []
    return ([key.documentID] + values).joined(separator: " ")
  }
}
