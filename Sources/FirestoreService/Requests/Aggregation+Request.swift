// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery

extension AggregationQueryMessage {
  /// The aggregations, and the most that those which count report, by alias.
  /// - Throws: `invalid-argument` in the words of the real service.
  func checked() throws(RPCStatus) -> (aggregations: [FirestoreQuery.Aggregation], caps: [String: Int64]) {
    var (unnamed, caps) = (0, [String: Int64]())
    let named = try aggregations.map { part throws(RPCStatus) in
      var alias = part.alias
      if alias.isEmpty {
        unnamed += 1
        alias = "field_\(unnamed)"
      }
      if alias.isReservedName { throw .invalid("The property.name \"\(alias)\" is reserved.") }
      let function: FirestoreQuery.Aggregation.Function
      switch part.function {
      case nil: throw .invalid("Operator field in Aggregation is not set.")
      case .count(let cap):
        if let cap, cap < 0 { throw .invalid("Count.up_to must not be negative.") }
        caps[alias] = cap
        function = .count
      case .sum(let path): function = .sum(try FieldPath(request: path))
      case .average(let path): function = .average(try FieldPath(request: path))
      }
      return FirestoreQuery.Aggregation(alias: alias, function: function)
    }
    try LocalBackend.check(named)
    return (named, caps)
  }
}
