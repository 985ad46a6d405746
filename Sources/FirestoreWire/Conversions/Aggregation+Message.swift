// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery
import SwiftProtobuf

extension Aggregation {
  /// - Parameter alias: for one that the message leaves unnamed. `count.up_to` is the caller's.
  package init(_ message: Wire.StructuredAggregationQuery.Aggregation, alias: String) throws(ModelError) {
    let alias = message.alias.isEmpty ? alias : message.alias
    switch message.operator {
    case .count: self.init(alias: alias, function: .count)
    case .sum(let sum): self.init(alias: alias, function: .sum(try FieldPath(wireText: sum.field.fieldPath)))
    case .avg(let average):
      self.init(alias: alias, function: .average(try FieldPath(wireText: average.field.fieldPath)))
    case nil: throw ModelError("The aggregation \"\(alias)\" has no operator. Give it count, sum or avg.")
    }
  }

  package var message: Wire.StructuredAggregationQuery.Aggregation {
    .with { message in
      message.alias = alias
      switch function {
      case .count: message.count = .init()
      case .sum(let path): message.sum = .with { $0.field = path.reference }
      case .average(let path): message.avg = .with { $0.field = path.reference }
      }
    }
  }
}
