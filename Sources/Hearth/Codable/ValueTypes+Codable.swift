// SPDX-License-Identifier: Apache-2.0

// `Firestore.Encoder` and `Firestore.Decoder` pass Firestore's own types through. Here is what other coders get.

extension Timestamp: Codable {
  private enum CodingKeys: String, CodingKey { case seconds, nanoseconds }

  public init(from decoder: any Swift.Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      seconds: try container.decode(Int64.self, forKey: .seconds),
      nanoseconds: try container.decode(Int32.self, forKey: .nanoseconds))
  }

  public func encode(to encoder: any Swift.Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(seconds, forKey: .seconds)
    try container.encode(nanoseconds, forKey: .nanoseconds)
  }
}

extension GeoPoint: Codable {
  private enum CodingKeys: String, CodingKey { case latitude, longitude }

  public init(from decoder: any Swift.Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      latitude: try container.decode(Double.self, forKey: .latitude),
      longitude: try container.decode(Double.self, forKey: .longitude))
  }

  public func encode(to encoder: any Swift.Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(latitude, forKey: .latitude)
    try container.encode(longitude, forKey: .longitude)
  }
}

extension VectorValue: Codable {
  private enum CodingKeys: String, CodingKey { case array }

  public init(from decoder: any Swift.Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(try container.decode([Double].self, forKey: .array))
  }

  public func encode(to encoder: any Swift.Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(array, forKey: .array)
  }
}

extension DocumentReference: Codable {
  /// Always throws: a reference is nothing without its `Firestore`.
  public init(from decoder: any Swift.Decoder) throws {
    throw FirestoreDecodingError.decodingIsNotSupported(
      "A DocumentReference can only be decoded by Firestore.Decoder.")
  }

  /// Always throws.
  public func encode(to encoder: any Swift.Encoder) throws {
    throw FirestoreEncodingError.encodingIsNotSupported(
      "A DocumentReference can only be encoded by Firestore.Encoder.")
  }
}

extension FieldValue: Encodable {
  /// Always throws.
  public func encode(to encoder: any Swift.Encoder) throws {
    throw FirestoreEncodingError.encodingIsNotSupported("A FieldValue can only be encoded by Firestore.Encoder.")
  }
}

/// Types that the coders of this module hand on as they are.
enum FirestoreOwnTypes {
  static func contain(_ value: Any) -> Bool {
    switch value {
    case is Timestamp, is GeoPoint, is VectorValue, is DocumentReference, is FieldValue: true
    default: false
    }
  }

  static func contain<T>(type: T.Type) -> Bool {
    type == Timestamp.self || type == GeoPoint.self || type == VectorValue.self || type == DocumentReference.self
  }
}
