// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import Foundation

extension StructureDecoder {
  /// Types that Firestore knows better than they know themselves, and all others by their own `init(from:)`.
  func value<T: Decodable>(as type: T.Type) throws -> T {
    if type == Date.self { return try cast(try date(), to: type) }
    if type == Data.self { return try cast(try data(), to: type) }
    if type == URL.self { return try cast(try url(), to: type) }
    if type == Decimal.self { return try cast(try decimal(), to: type) }
    if type == VectorValue.self, let array = content as? [Any] {
      // Older documents hold vectors as arrays.
      let numbers = try array.enumerated().map { try child($1, at: NameKey(index: $0)).float(Double.self) }
      return try cast(VectorValue(numbers), to: type)
    }
    if FirestoreOwnTypes.contain(type: type) { return try cast(content, to: type) }
    if type is any StringKeyedDictionary.Type {
      var decoder = self
      decoder.convertsKeys = false
      return try type.init(from: decoder)
    }
    return try type.init(from: self)
  }

  private func cast<T>(_ value: Any, to type: T.Type) throws -> T {
    guard let value = value as? T else { throw mismatch(type, "a \(type)") }
    return value
  }

  private func date(_ strategy: Firestore.Decoder.DateDecodingStrategy? = nil) throws -> Date {
    switch strategy ?? options.dates {
    case .timestamp(let fallback):
      if let timestamp = content as? Timestamp { return timestamp.dateValue() }
      if let date = content as? Date { return date }
      if isNil { throw mismatch(Date.self, "a timestamp") }
      return try date(fallback)
    case .deferredToDate: return try Date(from: self)
    case .secondsSince1970: return Date(timeIntervalSince1970: try float(Double.self))
    case .millisecondsSince1970: return Date(timeIntervalSince1970: try float(Double.self) / 1000)
    case .iso8601:
      guard let date = try? Date(try string(), strategy: .iso8601) else {
        throw corrupted("must be a time in ISO 8601, such as 2026-01-31T12:00:00Z.")
      }
      return date
    case .formatted(let formatter):
      guard let date = formatter.date(from: try string()) else { throw corrupted("is no date in the expected format.") }
      return date
    case .custom(let decode): return try decode(self)
    }
  }

  private func data() throws -> Data {
    switch options.data {
    case .blob:
      guard case .bytes(let bytes)? = scalar else { throw mismatch(Data.self, "bytes") }
      return Data(bytes)
    case .deferredToData: return try Data(from: self)
    case .base64:
      guard let data = Data(base64Encoded: try string()) else { throw corrupted("must be base64.") }
      return data
    case .custom(let decode): return try decode(self)
    }
  }

  private func url() throws -> URL {
    guard let url = URL(string: try string()) else { throw corrupted("is no URL.") }
    return url
  }

  /// From a number, or from digits in a string, which hold what a double cannot.
  private func decimal() throws -> Decimal {
    switch scalar {
    case .integer(let integer)?: return Decimal(integer)
    case .double(let double)? where double.isFinite: return NSNumber(value: double).decimalValue
    case .string(let text)?:
      guard let decimal = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")) else {
        throw corrupted("is no decimal number.")
      }
      return decimal
    default: throw mismatch(Decimal.self, "a number")
    }
  }
}
