// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreTesting
import Foundation
import Testing

extension SpecFiles {
  static func json(_ name: String) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: data(name)) as? [String: Any])
  }
}

extension Value {
  /// The notation of `values/value_order.json`: proto3 JSON, with the bits of doubles and bytes in hexadecimal.
  init(spec json: [String: Any]) throws {
    if let value = json["booleanValue"] as? Bool {
      self = .boolean(value)
    } else if let value = json["integerValue"] as? String {
      self = .integer(try #require(Int64(value)))
    } else if json["doubleValue"] != nil {
      let bits = try #require(json["bits"] as? String)
      self = .double(Double(bitPattern: try #require(UInt64(bits, radix: 16))))
    } else if let value = json["timestampValue"] as? [String: Any] {
      self = .timestamp(try Timestamp(spec: value))
    } else if let value = json["serverTimestamp"] as? [String: Any] {
      let time = try #require(value["localWriteTime"] as? [String: Any])
      self = .serverTimestamp(ServerTimestamp(localWriteTime: try Timestamp(spec: time), previous: nil))
    } else if let value = json["stringValue"] as? String {
      self = .string(value)
    } else if let value = json["bytesHex"] as? String {
      let digits = Array(value)
      self = .bytes(
        try stride(from: 0, to: digits.count, by: 2).map {
          try #require(UInt8(String(digits[$0...($0 + 1)]), radix: 16))
        })
    } else if let value = json["referenceValue"] as? String {
      self = try #require(Value(referenceName: value))
    } else if let value = json["geoPointValue"] as? [String: Double] {
      self = .geoPoint(
        GeoPoint(latitude: try #require(value["latitude"]), longitude: try #require(value["longitude"])))
    } else if let value = json["arrayValue"] as? [String: Any] {
      self = .array(try #require(value["values"] as? [[String: Any]]).map { try Value(spec: $0) })
    } else if let value = json["mapValue"] as? [String: Any] {
      let fields = try #require(value["fields"] as? [String: [String: Any]])
      self = Value(map: Fields(try fields.map { ($0.key, try Value(spec: $0.value)) }))
    } else {
      try #require(json["nullValue"] is NSNull)
      self = .null
    }
  }
}

extension Timestamp {
  fileprivate init(spec json: [String: Any]) throws {
    let seconds = try #require(json["seconds"] as? String)
    self.init(seconds: try #require(Int64(seconds)), nanoseconds: Int32(try #require(json["nanos"] as? Int)))
  }
}
