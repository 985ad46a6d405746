// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
package import FirestoreQuery
import TerminalCanvas

/// The part of a collection that a listener hears.
package enum ListenerScope: Hashable, Sendable {
  case all
  /// The documents within a limit that is full: those beyond it are not heard.
  case first(Int)
  case last(Int)
  /// The documents that pass conditions, or have the field of an order.
  case filtered
  /// One document.
  case document

  /// - Parameter count: the number of documents in the last snapshot; `nil` before the first.
  init(_ query: Query, count: Int?) {
    var unlimited = query
    unlimited.limit = nil
    if query.path.isDocument {
      self = .document
    } else if !unlimited.matchesAllDocuments {
      self = .filtered
    } else if let limit = query.limit, count.map({ $0 >= limit }) ?? true {
      self = query.limitType == .last ? .last(limit) : .first(limit)
    } else {
      self = .all
    }
  }

  /// `first 1 000`, `a filter`, `1 document`; `nil` for all.
  package var words: String? {
    switch self {
    case .all: nil
    case .first(let count): "first \(grouped(count))"
    case .last(let count): "last \(grouped(count))"
    case .filtered: "a filter"
    case .document: "1 document"
    }
  }
}

extension ListenerRecord {
  /// The part of its query's collections that the listener hears.
  package var scope: ListenerScope { ListenerScope(query, count: count) }

  /// Whether the last snapshot has all documents of a collection, as far as the client can tell now.
  package func isExact(whileOffline isOffline: Bool) -> Bool {
    failure == nil && scope == .all && query.collectionGroup == nil && (!isFromCache || isOffline)
  }

  /// The greatest width of a name that is made from a query.
  private static let longestName = 40

  /// The default name of a listener: `orders`, `**/items`, `orders total>=10`, `orders first 1000`.
  package static func defaultName(for query: Query) -> String {
    let place = query.collectionGroup.map { "**/" + $0 } ?? query.path.text
    if query.isDocumentQuery { return place }
    var words = query.filters.map(condition)
    words += query.explicitOrderBy.filter { !$0.path.isDocumentID }.prefix(1).map { order in
      "by " + (order.direction == .descending ? "-" : "") + order.path.canonicalText
    }
    if let limit = query.limit { words.append("\(query.limitType == .last ? "last" : "first") \(limit)") }
    if query.start != nil || query.end != nil { words.append("within bounds") }
    let name = ([place] + words).joined(separator: " ")
    return SafeText.columns(of: name) <= max(Self.longestName, SafeText.columns(of: place))
      ? name : SafeText.truncated(name, to: Self.longestName, ellipsis: "\u{2026}")
  }

  private static func condition(_ filter: Filter) -> String {
    guard case .field(let field) = filter else { return "(" + QueryText.text(filter, isInner: false) + ")" }
    let op = field.op.rawValue
    let isSign = op.allSatisfy { !$0.isLetter && $0 != "-" }
    let gap = isSign ? "" : " "
    return "\(field.path.canonicalText)\(gap)\(op == "==" ? "=" : op)\(gap)\(ValueText.short(field.value))"
  }
}
