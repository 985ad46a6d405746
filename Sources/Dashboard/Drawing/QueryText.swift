// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery

/// A query on one line, in the words of the command line: `cities where state == "CA" order population desc limit 10`.
enum QueryText {
  static func line(_ query: Query) -> String {
    var words = [query.collectionGroup.map { "**/" + $0 } ?? query.path.text]
    if !query.filters.isEmpty {
      words += ["where", query.filters.map { text($0, isInner: false) }.joined(separator: ", ")]
    }
    for order in query.explicitOrderBy {
      words += ["order", order.path.canonicalText] + (order.direction == .descending ? ["desc"] : [])
    }
    if let limit = query.limit { words.append("\(query.limitType == .last ? "last" : "limit") \(limit)") }
    return words.joined(separator: " ")
  }

  private static func text(_ filter: Filter, isInner: Bool) -> String {
    switch filter {
    case .field(let field): "\(field.path.canonicalText) \(field.op.rawValue) \(ValueText.short(field.value))"
    case .and(let filters): joined(filters, " and ", isInner)
    case .or(let filters): joined(filters, " or ", isInner)
    }
  }

  private static func joined(_ filters: [Filter], _ word: String, _ isInner: Bool) -> String {
    let text = filters.map { self.text($0, isInner: true) }.joined(separator: word)
    return isInner ? "(\(text))" : text
  }
}
