// SPDX-License-Identifier: Apache-2.0

/// An optional that is written as `null` when it is `nil`; a plain optional is left out of the document then.
@propertyWrapper
public struct ExplicitNull<Value> {
  /// `nil` for a field that is `null`.
  public var wrappedValue: Value?

  /// What it holds at first.
  public init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }
}

extension ExplicitNull: Encodable where Value: Encodable {
  public func encode(to encoder: any Swift.Encoder) throws {
    var container = encoder.singleValueContainer()
    if let wrappedValue { try container.encode(wrappedValue) } else { try container.encodeNil() }
  }
}

extension ExplicitNull: Decodable where Value: Decodable {
  public init(from decoder: any Swift.Decoder) throws {
    let container = try decoder.singleValueContainer()
    wrappedValue = container.decodeNil() ? nil : try container.decode(Value.self)
  }
}

extension ExplicitNull: Equatable where Value: Equatable {}
extension ExplicitNull: Hashable where Value: Hashable {}
extension ExplicitNull: Sendable where Value: Sendable {}

/// A property whose field may be absent even though its type is no optional.
protocol AbsenceTolerant {}
extension ExplicitNull: AbsenceTolerant {}
extension ServerTimestamp: AbsenceTolerant {}
