// SPDX-License-Identifier: Apache-2.0
import FirestoreQuery

extension Query {
  /// Ascending; documents without the field are left out.
  public func order(by field: some FieldName) -> any Query { order(by: field, descending: false) }

  /// Documents without the field are left out. Further orderings break ties; document ids break the last ones.
  public func order(by field: some FieldName, descending: Bool) -> any Query {
    refined { query throws(FirestoreError) in
      if query.start != nil || query.end != nil {
        throw .invalidArgument(
          "order(by:) must come before the cursors start(at:), start(after:), end(at:) and end(before:).")
      }
      query.explicitOrderBy.append(OrderBy(try field.modelPath(), descending ? .descending : .ascending))
    }
  }

  /// The first documents only.
  /// - Parameter limit: at least 1.
  public func limit(to limit: Int) -> any Query { limited(to: limit, .first) }

  /// The last documents only, in the query's order. Needs an `order(by:)`.
  /// - Parameter limit: at least 1.
  public func limit(toLast limit: Int) -> any Query { limited(to: limit, .last) }

  private func limited(to limit: Int, _ type: FirestoreQuery.Query.LimitType) -> any Query {
    refined { query throws(FirestoreError) in
      guard limit > 0 else { throw .invalidArgument("A query's limit must be positive, not \(limit).") }
      query.limit = limit
      query.limitType = type
    }
  }
}
