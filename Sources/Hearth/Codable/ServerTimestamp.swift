// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// What a `@ServerTimestamp` property can hold.
public protocol ServerTimestampWrappable: Sendable {
  static func wrap(_ timestamp: Timestamp) throws -> Self
  static func unwrap(_ value: Self) throws -> Timestamp
}

extension Date: ServerTimestampWrappable {
  /// To the precision of a `Date`.
  public static func wrap(_ timestamp: Timestamp) throws -> Date { timestamp.dateValue() }
  /// Kept to the microsecond.
  public static func unwrap(_ value: Date) throws -> Timestamp { Timestamp(date: value) }
}

extension Timestamp: ServerTimestampWrappable {
  /// The time itself.
  public static func wrap(_ timestamp: Timestamp) throws -> Timestamp { timestamp }
  /// The time itself.
  public static func unwrap(_ value: Timestamp) throws -> Timestamp { value }
}

/// A time that the backend sets when the property is `nil` as it is written. Read back before the backend has
/// answered, it is `nil` again.
@propertyWrapper
public struct ServerTimestamp<Value: ServerTimestampWrappable & Codable>: Sendable, Codable {
  /// `nil` for a time that the backend is to set.
  public var wrappedValue: Value?

  /// What it holds at first; `nil` has the backend set it.
  public init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

  public init(from decoder: any Swift.Decoder) throws {
    let container = try decoder.singleValueContainer()
    wrappedValue = container.decodeNil() ? nil : try Value.wrap(try container.decode(Timestamp.self))
  }

  public func encode(to encoder: any Swift.Encoder) throws {
    var container = encoder.singleValueContainer()
    if let wrappedValue {
      try container.encode(try Value.unwrap(wrappedValue))
    } else {
      try container.encode(FieldValue.serverTimestamp())
    }
  }
}

extension ServerTimestamp: Equatable where Value: Equatable {}
extension ServerTimestamp: Hashable where Value: Hashable {}
