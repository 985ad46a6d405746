// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery
import SwiftProtobuf

extension Target {
  /// The name of what the query starts from, for `parent`.
  package func parentName(in database: DatabaseID) -> String {
    let start = collectionGroup == nil ? path.parent : path
    return start.isRoot ? database.documentsName : "\(database.documentsName)/\(start.text)"
  }

  /// - Precondition: not a document target.
  package var message: Wire.StructuredQuery {
    .with { message in
      message.from = [
        .with { selector in
          selector.collectionID = collectionGroup ?? path.last
          selector.allDescendants = collectionGroup != nil
        }
      ]
      // What stands alone is one condition, unless that is a list of conditions itself.
      let isAlone = filters.count == 1 && !filters[0].isConjunction
      if !filters.isEmpty { message.where = (isAlone ? filters[0] : .and(filters)).message }
      message.orderBy = orderBy.map(\.message)
      if let limit { message.limit = Google_Protobuf_Int32Value(Int32(clamping: limit)) }
      if let start { message.startAt = start.message(before: start.isInclusive) }
      if let end { message.endAt = end.message(before: !end.isInclusive) }
    }
  }
}

extension Filter {
  fileprivate var isConjunction: Bool { if case .and = self { true } else { false } }
}

extension OrderBy {
  package var message: Wire.StructuredQuery.Order {
    .with { message in
      message.field = path.reference
      message.direction = direction == .ascending ? .ascending : .descending
    }
  }
}

extension FieldPath {
  package var reference: Wire.StructuredQuery.FieldReference { .with { $0.fieldPath = canonicalText } }
}

extension Bound {
  fileprivate func message(before: Bool) -> Wire.Cursor {
    .with { ($0.values, $0.before) = (values.map(\.message), before) }
  }
}
