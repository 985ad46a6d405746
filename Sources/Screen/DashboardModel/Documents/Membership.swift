// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import FirestoreQuery

/// The reasons why a document is or is not in a listener's result: each condition with the document's value. They are
/// derived only from the document and from the listener's snapshots.
package struct Membership {
  package struct Reason: Hashable {
    /// Whether the document satisfies the condition; `nil` if unknown.
    package var holds: Bool?
    package var text: String
  }

  package var verdict: String
  package var reasons: [Reason] = []

  /// - Parameter results: the documents in the listener's snapshots, if its query has a limit.
  package init(
    _ listener: ListenerRecord, _ key: DocumentKey, _ document: Document?, results: [DocumentKey: Document]?
  ) {
    let query = listener.query
    guard query.containsPath(of: key) else {
      verdict = "not here: it listens to \(query.collectionGroup.map { "**/" + $0 } ?? query.path.text)"
      return
    }
    if query.isDocumentQuery {
      verdict = "here: it listens to this document"
      return
    }
    guard let document, let fields = document.data?.fields else {
      verdict = document == nil ? "not known: the document is not in the cache" : "not here"
      if document?.state == .missing { reasons = [Reason(holds: false, text: "the document does not exist")] }
      if document?.state == .unknown { verdict = "not known: the document's content is not known" }
      return
    }
    reasons = query.filters.map { Self.reason($0, document, fields, below: query) }
    for order in query.explicitOrderBy where !order.path.isDocumentID && fields[order.path] == nil {
      reasons.append(Reason(holds: false, text: "the order needs a missing field: \(order.path.canonicalText)"))
    }
    let matches = query.matches(document)
    if !matches, reasons.allSatisfy({ $0.holds == true }), query.start != nil || query.end != nil {
      reasons.append(Reason(holds: false, text: "outside the query's start and end"))
    }
    guard let limit = query.limit, matches else {
      verdict = matches ? "here" : "not here"
      return
    }
    guard let results, listener.count != nil else {
      reasons.append(Reason(holds: nil, text: "limit \(grouped(limit)): the position is not known"))
      verdict = "not known"
      return
    }
    let word = query.limitType == .last ? "from the end" : ""
    if results[key] == nil {
      reasons.append(Reason(holds: false, text: "outside the limit of \(grouped(limit)) \(word)".trimmed))
      verdict = "not here"
      return
    }
    let others = results.values.filter { $0.key != key }
    let before = others.count { other in
      query.compare(other, document) == (query.limitType == .last ? .descending : .ascending)
    }
    reasons.append(
      Reason(holds: true, text: "\(Self.ordinal(before + 1)) of limit \(grouped(limit)) \(word)".trimmed))
    verdict = "here"
  }

  private static func reason(_ filter: Filter, _ document: Document, _ fields: Fields, below query: Query) -> Reason {
    let holds = Query(path: document.key.collection, filters: [filter]).matches(document)
    let text = QueryText.text(filter, isInner: false)
    guard case .field(let condition) = filter, !condition.path.isDocumentID else {
      return Reason(holds: holds, text: text)
    }
    guard let value = fields[condition.path] else { return Reason(holds: holds, text: "\(text): no such field") }
    let isSaid = holds && condition.op == .equal
    return Reason(holds: holds, text: isSaid ? text : "\(text): it is \(ValueText.short(value))")
  }

  /// The ordinal of a number: `1st`, `2nd`, `42nd`, `11th`.
  package static func ordinal(_ number: Int) -> String {
    let ending =
      switch (number % 100, number % 10) {
      case (11...13, _): "th"
      case (_, 1): "st"
      case (_, 2): "nd"
      case (_, 3): "rd"
      default: "th"
      }
    return grouped(number) + ending
  }
}
