// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import Foundation

/// Data to decode: a value in a document, or a value that a program passed to `Firestore.Decoder`.
enum DecodedContent {
  /// A stored value. If it is a pending server timestamp, it has already been replaced as the reader requested
  /// (`ValueDecoder.settled`).
  case stored(Value)
  /// A map in a document, or the whole document. Its fields are decoded one by one.
  case encoded(EncodedEntries)
  case given(Any)

  /// The content for null.
  static var null: DecodedContent { .stored(.null) }

  /// The content as a Firestore value, which distinguishes Booleans, integers and doubles. `nil` for maps, arrays, and
  /// types that Firestore does not store.
  var scalar: Value? {
    switch self {
    case .stored(.map), .stored(.array), .encoded: nil
    case .stored(let value): value
    case .given(let any): try? ValueEncoder.scalar(any, at: [])
    }
  }

  var isNull: Bool {
    switch self {
    case .stored(.null): true
    case .stored, .encoded: false
    case .given: if case .null? = scalar { true } else { false }
    }
  }

  /// The kind of the data, for error messages.
  var kind: String {
    switch self {
    case .stored(.map), .encoded: return "a map"
    case .stored(.array): return "an array"
    case .given(let any) where any is [String: Any]: return "a map"
    case .given(let any) where any is [Any]: return "an array"
    default: break
    }
    switch scalar {
    case .boolean?: return "a Boolean"
    case .integer?: return "an integer"
    case .double?: return "a double"
    case .timestamp?: return "a timestamp"
    case .string?: return "a string"
    case .bytes?: return "bytes"
    case .reference?: return "a reference"
    case .geoPoint?: return "a GeoPoint"
    case .vector?: return "a vector"
    default: break
    }
    guard case .given(let any) = self else { return "null" }
    return "\(type(of: any))"
  }
}

/// The fields of a map to decode.
enum DecodedMap {
  case stored(Fields)
  case encoded(EncodedEntries)
  case given([String: Any])

  /// The largest field count for which fields are looked up in the encoded map. Each lookup scans the preceding fields,
  /// so larger maps are decoded completely before the first lookup.
  private static let few = 24

  init(_ entries: EncodedEntries) {
    self = entries.hasMore(than: Self.few) ? .stored(entries.fields) : .encoded(entries)
  }

  /// The names of all fields, sorted.
  var names: [String] {
    switch self {
    case .stored(let fields): fields.entries.map(\.name)
    case .encoded(let entries): entries.fields.entries.map(\.name)
    case .given(let map): map.keys.sorted()
    }
  }

  func contains(_ name: String) -> Bool {
    switch self {
    case .stored(let fields): fields[name] != nil
    case .encoded(let entries): entries.contains(name)
    case .given(let map): map[name] != nil
    }
  }

  /// A copy of the map with renamed fields. If two fields get the same name, the field whose old name sorts first wins,
  /// so that the result is deterministic.
  func renamed(_ rename: (String) -> String) -> DecodedMap {
    switch self {
    case .stored(let fields):
      return .stored(Fields(fields.entries.reversed().map { (name: rename($0.name), value: $0.value) }))
    case .encoded(let entries): return DecodedMap.stored(entries.fields).renamed(rename)
    case .given(let map):
      let named = map.sorted { $0.key < $1.key }.map { (rename($0.key), $0.value) }
      return .given(Dictionary(named, uniquingKeysWith: { first, _ in first }))
    }
  }
}

/// The elements of an array to decode.
enum DecodedArray {
  case stored([Value])
  case given([Any])

  var count: Int {
    switch self {
    case .stored(let values): values.count
    case .given(let array): array.count
    }
  }
}

/// The state that is shared by all decoders of one value.
final class DecodingContext {
  let options: Firestore.Decoder.Options
  /// The document that contains the data; `nil` if unknown.
  let reference: DocumentReference?
  /// Converts stored values to the API's types; `nil` if a program passed the data.
  let values: ValueDecoder?

  init(options: Firestore.Decoder.Options, reference: DocumentReference?, values: ValueDecoder? = nil) {
    self.options = options
    self.reference = reference
    self.values = values
  }

  /// The dictionary that `init(from:)` of each decoded value can read (`Decoder.userInfo`).
  var userInfo: [CodingUserInfoKey: Any] {
    var userInfo: [CodingUserInfoKey: Any] = options.userInfo
    if let reference { userInfo[.documentReference] = reference }
    return userInfo
  }

  /// A stored value as content.
  func content(_ value: Value) -> DecodedContent {
    guard case .serverTimestamp(let pending) = value else { return .stored(value) }
    return .stored(values?.settled(pending) ?? .null)
  }

  /// A field of a map; `nil` if the field is missing.
  func content(of name: String, in map: DecodedMap) -> DecodedContent? {
    switch map {
    case .stored(let fields): fields[name].map(content)
    case .encoded(let entries):
      switch entries.content(of: name) {
      case .map(let inner)?: .encoded(inner)
      case .value(let value)?: content(value)
      case nil: nil
      }
    case .given(let map): map[name].map { .given($0) }
    }
  }

  /// An element of an array.
  func content(at index: Int, in array: DecodedArray) -> DecodedContent {
    switch array {
    case .stored(let values): content(values[index])
    case .given(let array): .given(array[index])
    }
  }

  /// Converts the content to a value of the API, without using `Decodable`.
  func any(_ content: DecodedContent) -> Any {
    switch content {
    case .stored(let value): values?.any(value) ?? NSNull()
    case .encoded(let entries): values?.any(.map(entries.fields)) ?? NSNull()
    case .given(let any): any
    }
  }
}
