// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// A document's fields for matching, decoded or read in place.
enum StoredFields {
  case decoded(Fields)
  case encoded(EncodedFieldsView)

  /// The value at a path; `nil` if there is no such field.
  func find(_ path: FieldPath) -> StoredValue? {
    switch self {
    case .decoded(let fields): fields[path].map { .decoded($0) }
    case .encoded(let view): view.find(path).map { .encoded($0) }
    }
  }
}

/// A field's value, decoded or read in place.
enum StoredValue {
  case decoded(Value)
  case encoded(EncodedValueView)

  /// The rank of the value's type; `nil` if it cannot be read, like the result of `compare`.
  var typeRank: Int? {
    switch self {
    case .decoded(let value): value.typeRank
    case .encoded(let view): view.typeRank
    }
  }

  var isNull: Bool { typeRank == Value.null.typeRank }

  var isNaN: Bool {
    switch self {
    case .decoded(let value): value == .double(.nan)
    case .encoded(let view): view.isNaN
    }
  }

  func compare(_ other: Value) -> Ordering? {
    switch self {
    case .decoded(let value): value.compare(other)
    case .encoded(let view): view.compare(with: other)
    }
  }

  /// The decoded value; null if it cannot be read.
  var decoded: Value {
    switch self {
    case .decoded(let value): value
    case .encoded(let view): view.decoded() ?? .null
    }
  }
}
