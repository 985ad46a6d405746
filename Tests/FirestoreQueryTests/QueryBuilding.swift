// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import SeededRandom

func path(_ text: String) -> FieldPath { FieldPath(segments: text.split(separator: ".").map(String.init)) }

func doc(_ key: String, _ fields: Fields, encoded: Bool = false) -> Document {
  let data = encoded ? DocumentData(encoded: EncodedFields(fields)) : DocumentData(fields)
  return Document(
    key: FirestoreTesting.key(key), version: version(1), state: .found(data))
}

func reference(_ path: String) -> Value { .reference(database, key(path)) }

func order(_ texts: String...) -> [OrderBy] {
  texts.map { text in
    text.hasPrefix("-") ? OrderBy(path(String(text.dropFirst())), .descending) : OrderBy(path(text))
  }
}

extension Filter {
  static func field(_ name: String, _ op: FieldFilter.Operator, _ value: Value) -> Filter {
    .field(FieldFilter(path(name), op, value))
  }
}

extension Query {
  /// A query of the collection `c`.
  static func c(
    _ filters: Filter..., order: [OrderBy] = [], limit: Int? = nil, limitType: LimitType = .first, start: Bound? = nil,
    end: Bound? = nil
  ) -> Query {
    Query(
      path: ResourcePath("c"), filters: filters, explicitOrderBy: order, limit: limit, limitType: limitType,
      start: start, end: end)
  }
}
