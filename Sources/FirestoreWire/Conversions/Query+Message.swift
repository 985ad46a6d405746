// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery
import SwiftProtobuf

extension Query {
  /// The part of a structured query that the model expresses; `select`, `offset` and `find_nearest` are the caller's.
  /// - Parameter parent: the document that the query starts from, or the root.
  /// - Throws: `invalid-argument` for anything but one collection, an unknown operator, or a path that cannot be read.
  package init(_ message: Wire.StructuredQuery, parent: ResourcePath) throws(ModelError) {
    guard message.from.count == 1, !message.from[0].collectionID.isEmpty else {
      throw ModelError("A query names one collection in \"from\"; this one names \(message.from.count).")
    }
    let selector = message.from[0]
    self.init(
      path: selector.allDescendants ? parent : parent.appending(selector.collectionID),
      collectionGroup: selector.allDescendants ? selector.collectionID : nil)
    if message.hasWhere {
      let filter = try Filter(message.where)
      if case .and(let filters) = filter { self.filters = filters } else { filters = [filter] }
    }
    explicitOrderBy = try message.orderBy.map { order throws(ModelError) in try OrderBy(order) }
    limit = message.hasLimit ? Int(message.limit.value) : nil
    if message.hasStartAt {
      start = Bound(values: try [Value](message.startAt), isInclusive: message.startAt.before)
    }
    if message.hasEndAt {
      end = Bound(values: try [Value](message.endAt), isInclusive: !message.endAt.before)
    }
  }
}

extension Target {
  /// The name of what the query starts from, for `parent`.
  package func parentName(in database: DatabaseID) -> String {
    ResourceName(database: database, path: collectionGroup == nil ? path.parent : path).text
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
      if filters.count == 1 {
        message.where = filters[0].message
      } else if !filters.isEmpty {
        message.where = Filter.and(filters).message
      }
      message.orderBy = orderBy.map(\.message)
      if let limit { message.limit = Google_Protobuf_Int32Value(Int32(clamping: limit)) }
      if let start { message.startAt = start.message(before: start.isInclusive) }
      if let end { message.endAt = end.message(before: !end.isInclusive) }
    }
  }
}

extension OrderBy {
  package init(_ message: Wire.StructuredQuery.Order) throws(ModelError) {
    switch message.direction {
    case .ascending, .unspecified: self.init(try FieldPath(wireText: message.field.fieldPath), .ascending)
    case .descending: self.init(try FieldPath(wireText: message.field.fieldPath), .descending)
    case .UNRECOGNIZED(let number): throw ModelError("The direction \(number) of an ordering is not known.")
    }
  }

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

extension [Value] {
  package init(_ cursor: Wire.Cursor) throws(ModelError) {
    self = try cursor.values.map { value throws(ModelError) in try Value(value) }
  }
}
