// SPDX-License-Identifier: Apache-2.0
package import ClientPort
package import FirestoreClientState
package import FirestoreModel
package import FirestoreQuery
import TerminalCanvas

/// A listener of the dashboard, with information from its last snapshot.
package struct ListenerRecord: Sendable {
  package let tag: ListenerTag
  package var name: String
  package var query: Query
  package var options: ListenerOptions
  package var isFromCache = true
  package var hasPendingWrites = false
  /// The document count of the last snapshot; `nil` before the first.
  package var count: Int?
  package var failure: RPCStatus?

  /// Whether the listener's query covers a collection, directly or as part of a group.
  package func covers(_ collection: ResourcePath) -> Bool {
    if let group = query.collectionGroup {
      return group.equalsUTF8(collection.last) && query.path.isPrefix(of: collection)
    }
    return query.path == collection || (query.path.isDocument && query.path.parent == collection)
  }
}

/// The definition of a listener: its name, query and options. Definitions can be edited, stored and exchanged.
package struct ListenerDefinition: Hashable, Sendable {
  package var name: String
  package var query: Query
  package var options: ListenerOptions

  package init(
    name: String, query: Query, options: ListenerOptions = ListenerOptions(includeMetadataChanges: true)
  ) {
    self.name = name
    self.query = query
    self.options = options
  }

  /// Whether two definitions have the same query and the same options. Their names can differ.
  package func asks(like other: ListenerDefinition) -> Bool { query == other.query && options == other.options }
}

extension ListenerRecord {
  package var definition: ListenerDefinition { ListenerDefinition(name: name, query: query, options: options) }

  /// Whether the user chose the name.
  package var isNamed: Bool {
    let standard = Self.defaultName(for: query)
    return name != standard
      && !(name.hasPrefix(standard + " ") && Int(name.dropFirst(standard.count + 1)) != nil)
  }
}

/// The part of a collection that a listener covers.
package enum ListenerScope: Hashable, Sendable {
  case all
  /// The first documents of the collection, because the query's limit has been reached. Documents beyond the limit are
  /// not covered.
  case first(Int)
  case last(Int)
  /// The documents that match the query's conditions, or that have the field by which the query sorts.
  case filtered
  /// One document.
  case document

  /// - Parameter count: the document count of the last snapshot; `nil` before the first.
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

  /// The scope as text: `first 1 000`, `a filter`, `1 document`; `nil` for all documents.
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
  /// The part of the queried collection that the listener covers.
  package var scope: ListenerScope { ListenerScope(query, count: count) }

  /// Whether the last snapshot contains all documents of a collection, as far as the client knows.
  package func isExact(whileOffline isOffline: Bool) -> Bool {
    failure == nil && scope == .all && query.collectionGroup == nil && (!isFromCache || isOffline)
  }

  /// The maximum width of a name that is derived from a query.
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
