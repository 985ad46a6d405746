// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
package import FirestoreQuery

/// A query on one line in command-line syntax: `cities where state == "CA" order population desc limit 10`.
package enum QueryText {
  package static func line(_ query: Query) -> String {
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

  package static func text(_ filter: Filter, isInner: Bool) -> String {
    switch filter {
    case .field(let field): "\(field.path.canonicalText) \(field.op.rawValue) \(operand(field.value))"
    case .and(let filters): joined(filters, " and ", isInner)
    case .or(let filters): joined(filters, " or ", isInner)
    }
  }

  /// The maximum width of a list whose values are shown. For a longer list, only the count of its values is shown.
  private static let longestList = 40

  private static func operand(_ value: Value) -> String {
    guard case .array(let values) = value else { return ValueText.short(value) }
    let text = "[" + values.map(ValueText.short).joined(separator: ", ") + "]"
    return text.count <= longestList ? text : ValueText.short(value)
  }

  private static func joined(_ filters: [Filter], _ word: String, _ isInner: Bool) -> String {
    let text = filters.map { self.text($0, isInner: true) }.joined(separator: word)
    return isInner ? "(\(text))" : text
  }
}

/// A query as Swift code, one call per line.
package enum SwiftCode {
  package static func lines(for query: Query) -> [String] {
    var lines: [String] = []
    if let group = query.collectionGroup {
      lines.append("db.collectionGroup(\(quoted(group)))")
    } else if query.path.isDocument {
      return ["db.document(\(quoted(query.path.text)))"]
    } else {
      lines.append("db.collection(\(quoted(query.path.text)))")
    }
    for filter in query.filters {
      if case .field = filter {
        lines.append("  \(condition(filter))")
      } else {
        lines.append("  .whereFilter(\(condition(filter)))")
      }
    }
    for order in query.explicitOrderBy {
      let direction = order.direction == .descending ? ", descending: true" : ""
      lines.append("  .order(by: \(field(order.path))\(direction))")
    }
    if let limit = query.limit {
      lines.append("  .limit(\(query.limitType == .last ? "toLast" : "to"): \(limit))")
    }
    return lines
  }

  private static func condition(_ filter: Filter) -> String {
    switch filter {
    case .field(let filter):
      ".whereField(\(field(filter.path)), \(label(filter.op)): \(literal(filter.value)))"
    case .and(let filters): ".andFilter([\(filters.map(condition).joined(separator: ", "))])"
    case .or(let filters): ".orFilter([\(filters.map(condition).joined(separator: ", "))])"
    }
  }

  private static func field(_ path: FieldPath) -> String {
    path.isDocumentID ? "FieldPath.documentID()" : quoted(path.canonicalText)
  }

  private static func label(_ op: FieldFilter.Operator) -> String {
    switch op {
    case .lessThan: "isLessThan"
    case .lessThanOrEqual: "isLessThanOrEqualTo"
    case .equal: "isEqualTo"
    case .notEqual: "isNotEqualTo"
    case .greaterThan: "isGreaterThan"
    case .greaterThanOrEqual: "isGreaterThanOrEqualTo"
    case .arrayContains: "arrayContains"
    case .arrayContainsAny: "arrayContainsAny"
    case .in: "in"
    case .notIn: "notIn"
    }
  }

  private static func literal(_ value: Value) -> String {
    switch value {
    case .null: "NSNull()"
    case .string(let text): quoted(text)
    case .array(let values): "[" + values.map(literal).joined(separator: ", ") + "]"
    case .reference(_, let key): "db.document(\(quoted(key.path.text)))"
    case .map(let fields):
      "[" + fields.entries.map { quoted($0.name) + ": " + literal($0.value) }.joined(separator: ", ") + "]"
    case .geoPoint(let point): "GeoPoint(latitude: \(point.latitude), longitude: \(point.longitude))"
    case .timestamp(let time): "Timestamp(seconds: \(time.seconds), nanoseconds: \(time.nanoseconds))"
    case .boolean, .integer, .double, .bytes, .vector, .serverTimestamp: ValueText.short(value)
    }
  }

  private static func quoted(_ text: String) -> String {
    "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n") + "\""
  }
}
