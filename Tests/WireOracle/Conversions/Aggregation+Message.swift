// SPDX-License-Identifier: Apache-2.0
package import FirestoreQuery
import SwiftProtobuf

extension Aggregation {
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
