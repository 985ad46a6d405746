// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery

/// A `StructuredAggregationQuery` as it came.
struct RequestedAggregation {
  var query: RequestedQuery?
  var aggregations: [Aggregation] = []
  /// The most that a count reports, by alias.
  var caps: [String: Int64] = [:]
}

extension RequestField {
  mutating func structuredAggregationQuery() throws(RPCStatus) -> RequestedAggregation? {
    try message { inner throws(RPCStatus) in
      var request = RequestedAggregation()
      var parts: [(alias: String, function: Aggregation.Function, cap: Int64?)] = []
      try inner.fields { number, field throws(RPCStatus) in
        switch number {
        case 1: request.query = try field.structuredQuery() ?? request.query
        case 3: if let part = try field.aggregation() { parts.append(part) }
        default: break
        }
      }
      if parts.isEmpty { throw RPCStatus(.invalidArgument, "Aggregations can not be empty.") }
      if parts.count > Aggregation.maximumCount {
        throw RPCStatus(
          .invalidArgument,
          "The maximum number of aggregations allowed in an aggregation query is \(Aggregation.maximumCount).")
      }
      var unnamed = 0
      var aliases: Set<String> = []
      for var part in parts {
        if part.alias.isEmpty {
          unnamed += 1
          part.alias = "field_\(unnamed)"
        }
        if part.alias.isReservedName {
          throw RPCStatus(.invalidArgument, "The property.name \"\(part.alias)\" is reserved.")
        }
        guard aliases.insert(part.alias).inserted else {
          throw RPCStatus(.invalidArgument, "Aggregation aliases contain duplicate alias: \(part.alias).")
        }
        request.aggregations.append(Aggregation(alias: part.alias, function: part.function))
        request.caps[part.alias] = part.cap
      }
      return request
    }
  }

  private mutating func aggregation() throws(RPCStatus) -> (alias: String, function: Aggregation.Function, cap: Int64?)?
  {
    try message { inner throws(RPCStatus) in
      var alias = ""
      var function: Aggregation.Function?
      var cap: Int64?
      try inner.fields { number, field throws(RPCStatus) in
        switch number {
        case 1:
          let limit = try field.message { inner throws(RPCStatus) -> Int64? in
            var limit: Int64?
            try inner.fields { number, field throws(RPCStatus) in
              if number == 1 { limit = try field.wrappedInteger() ?? limit }
            }
            return limit
          }
          if let limit {
            function = .count
            cap = limit
          }
        case 2: if let path = try field.aggregatedField() { function = .sum(path) }
        case 3: if let path = try field.aggregatedField() { function = .average(path) }
        case 7: alias = try field.string() ?? alias
        default: break
        }
      }
      guard let function else { throw RPCStatus(.invalidArgument, "Operator field in Aggregation is not set.") }
      if let cap, cap < 0 { throw RPCStatus(.invalidArgument, "Count.up_to must not be negative.") }
      return (alias, function, cap)
    }
  }

  private mutating func aggregatedField() throws(RPCStatus) -> FieldPath? {
    try message { inner throws(RPCStatus) in
      var path: FieldPath?
      try inner.fields { number, field throws(RPCStatus) in
        if number == 1 { path = try field.fieldReference() ?? path }
      }
      let result = try FieldPath(required: path)
      if result.isDocumentID {
        throw RPCStatus(.invalidArgument, "Aggregations are not supported for the property: __key__")
      }
      return result
    }
  }
}
