// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import FirestoreQuery

/// A `StructuredQuery` as it came, before it is checked as a whole.
struct RequestedQuery {
  struct Selector {
    var collectionID = ""
    var allDescendants = false
  }

  var projection: FieldMask?
  var selectors: [Selector] = []
  var filter: Filter?
  var orderBy: [OrderBy] = []
  var limit: Int?
  var offset = 0
  var start: Bound?
  var end: Bound?
  var nearest: NearestNeighbors?
}

extension RequestField {
  mutating func structuredQuery() throws(RPCStatus) -> RequestedQuery? {
    try message { inner throws(RPCStatus) in
      var query = RequestedQuery()
      try inner.fields { number, field throws(RPCStatus) in
        switch number {
        case 1: query.projection = try field.projection() ?? query.projection
        case 2: if let selector = try field.collectionSelector() { query.selectors.append(selector) }
        case 3: query.filter = try field.filter(depth: 0) ?? query.filter
        case 4: if let order = try field.order() { query.orderBy.append(order) }
        case 5: query.limit = try field.wrappedInteger().map { Int(Int32(truncatingIfNeeded: $0)) } ?? query.limit
        case 6: query.offset = try field.integer().map { Int(Int32(truncatingIfNeeded: $0)) } ?? query.offset
        case 7:
          if let (values, before) = try field.cursor() { query.start = Bound(values: values, isInclusive: before) }
        case 8:
          if let (values, before) = try field.cursor() { query.end = Bound(values: values, isInclusive: !before) }
        case 9: query.nearest = try field.nearest() ?? query.nearest
        default: break
        }
      }
      return query
    }
  }

  private mutating func projection() throws(RPCStatus) -> FieldMask? {
    try message { inner throws(RPCStatus) in
      var paths: [FieldPath] = []
      try inner.fields { number, field throws(RPCStatus) in
        if number == 2, let path = try field.fieldReference(), !path.isDocumentID { paths.append(path) }
      }
      return FieldMask(paths)
    }
  }

  private mutating func collectionSelector() throws(RPCStatus) -> RequestedQuery.Selector? {
    try message { inner throws(RPCStatus) in
      var selector = RequestedQuery.Selector()
      try inner.fields { number, field throws(RPCStatus) in
        switch number {
        case 2: selector.collectionID = try field.string() ?? selector.collectionID
        case 3: selector.allDescendants = try field.boolean() ?? selector.allDescendants
        default: break
        }
      }
      return selector
    }
  }

  private mutating func order() throws(RPCStatus) -> OrderBy? {
    try message { inner throws(RPCStatus) in
      var path: FieldPath?
      var direction = OrderBy.Direction.ascending
      try inner.fields { number, field throws(RPCStatus) in
        switch number {
        case 1: path = try field.fieldReference() ?? path
        case 2: if try field.integer() == 2 { direction = .descending }
        default: break
        }
      }
      return OrderBy(try FieldPath(required: path), direction)
    }
  }

  private mutating func cursor() throws(RPCStatus) -> (values: [Value], before: Bool)? {
    try message { inner throws(RPCStatus) in
      var values: [Value] = []
      var before = false
      try inner.fields { number, field throws(RPCStatus) in
        switch number {
        case 1: if let value = try field.value() { values.append(value) }
        case 2: before = try field.boolean() ?? before
        default: break
        }
      }
      return (values, before)
    }
  }

  private mutating func nearest() throws(RPCStatus) -> NearestNeighbors? {
    try message { inner throws(RPCStatus) in
      var path: FieldPath?
      var vector: Value?
      var measure: NearestNeighbors.Measure?
      var limit: Int64 = 0
      var resultField: FieldPath?
      var threshold: Double?
      try inner.fields { number, field throws(RPCStatus) in
        switch number {
        case 1: path = try field.fieldReference() ?? path
        case 2: vector = try field.value() ?? vector
        case 3: measure = try field.integer().flatMap { [1: .euclidean, 2: .cosine, 3: .dotProduct][$0] } ?? measure
        case 4: limit = try field.wrappedInteger() ?? limit
        case 5: if let text = try field.string(), !text.isEmpty { resultField = try FieldPath(request: text) }
        case 6:
          threshold =
            try field.message { inner throws(RPCStatus) in
              var value = 0.0
              try inner.fields { number, field throws(RPCStatus) in
                if number == 1 { value = try field.double() ?? value }
              }
              return value
            } ?? threshold
        default: break
        }
      }
      guard let measure else { throw RPCStatus(.invalidArgument, "FindNearest.distance_measure must be specified.") }
      guard case .vector(let elements)? = vector, !elements.isEmpty else {
        throw RPCStatus(.invalidArgument, "FindNearest.query_vector must be a vector.")
      }
      guard (1...1000).contains(limit) else {
        throw RPCStatus(.invalidArgument, "FindNearest.limit must be a positive integer of no more than 1000")
      }
      return NearestNeighbors(
        path: try FieldPath(required: path), vector: elements, measure: measure, limit: Int(limit),
        resultField: resultField, threshold: threshold)
    }
  }
}
