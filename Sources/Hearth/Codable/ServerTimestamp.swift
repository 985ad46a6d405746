// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// What a `@ServerTimestamp` property can hold.
public protocol ServerTimestampWrappable: Sendable {
  static func wrap(_ timestamp: Timestamp) throws -> Self
  static func unwrap(_ value: Self) throws -> Timestamp
}

extension Date: ServerTimestampWrappable {
  public static func wrap(_ timestamp: Timestamp) throws -> Date { timestamp.dateValue() }
  public static func unwrap(_ value: Date) throws -> Timestamp { Timestamp(date: value) }
}

extension Timestamp: ServerTimestampWrappable {
  public static func wrap(_ timestamp: Timestamp) throws -> Timestamp { timestamp }
  public static func unwrap(_ value: Timestamp) throws -> Timestamp { value }
}

/// A time that the backend sets when the property is `nil` as it is written. Read back before the backend has
/// answered, it is `nil` again.
@propertyWrapper
public struct ServerTimestamp<Value: ServerTimestampWrappable & Codable>: Sendable, Codable {
  public var wrappedValue: Value?

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
