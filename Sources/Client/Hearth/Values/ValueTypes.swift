// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
public import Foundation

/// A point in time with nanosecond precision. The backend stores microseconds.
public struct Timestamp: Hashable, Comparable, Sendable, Codable {
  /// The seconds since 1970-01-01T00:00:00Z.
  public let seconds: Int64
  /// The nanoseconds in addition to `seconds`: 0…999 999 999.
  public let nanoseconds: Int32

  /// Creates a time.
  /// - Parameters:
  ///   - seconds: the seconds since 1970-01-01T00:00:00Z. Only times in the years 1 to 9999 can be written.
  ///   - nanoseconds: the nanoseconds in addition to `seconds`, 0…999 999 999.
  public init(seconds: Int64, nanoseconds: Int32) {
    self.seconds = seconds
    self.nanoseconds = nanoseconds
  }

  /// Creates the time of a date.
  /// - Parameter date: the date, which is rounded to microseconds. A present-day `Date` is itself less precise than a
  ///   nanosecond.
  public init(date: Date) {
    self.init(FirestoreModel.Timestamp(date))
  }

  /// Creates a timestamp with the current time, by this device's clock.
  public init() { self.init(date: Date()) }

  package init(_ timestamp: FirestoreModel.Timestamp) {
    self.init(seconds: timestamp.seconds, nanoseconds: timestamp.nanoseconds)
  }

  /// The time as a `Date`, with the precision of that type.
  public func dateValue() -> Date {
    Date(timeIntervalSince1970: Double(seconds) + Double(nanoseconds) / 1e9)
  }

  /// Compares two times. This is the SDK's form of `<`, `==` and `>`.
  public func compare(_ other: Timestamp) -> ComparisonResult {
    self < other ? .orderedAscending : other < self ? .orderedDescending : .orderedSame
  }

  /// Whether the left time is earlier.
  public static func < (left: Timestamp, right: Timestamp) -> Bool {
    (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
  }

  var model: FirestoreModel.Timestamp { FirestoreModel.Timestamp(seconds: seconds, nanoseconds: nanoseconds) }

  /// Whether Cloud Firestore can store the time, which requires a year from 1 to 9999 (google.protobuf.Timestamp).
  var isInRange: Bool {
    (-62_135_596_800...253_402_300_799).contains(seconds) && (0...999_999_999).contains(nanoseconds)
  }
}

extension FirestoreModel.Timestamp {
  /// Converts a date. The result is limited to 64 bits of microseconds, which is far more than `Timestamp.isInRange`
  /// accepts.
  package init(_ date: Date) {
    let microseconds = (date.timeIntervalSince1970 * 1e6).rounded()
    self.init(microseconds: Int64(exactly: microseconds) ?? (microseconds < 0 ? .min : .max))
  }

  /// The current time by this device's clock.
  package static func now() -> FirestoreModel.Timestamp { FirestoreModel.Timestamp(Date()) }
}

extension Timestamp: CustomStringConvertible {
  /// The time as text, such as `Timestamp(seconds: 0, nanoseconds: 0)`.
  public var description: String { "Timestamp(seconds: \(seconds), nanoseconds: \(nanoseconds))" }
}

/// A point on Earth, in degrees.
public struct GeoPoint: Hashable, Sendable, Codable {
  /// The latitude, -90…90. If the latitude or longitude is invalid, the call that writes or queries the point reports
  /// the error.
  public let latitude: Double
  /// The longitude, -180…180.
  public let longitude: Double

  /// Creates a point from degrees.
  public init(latitude: Double, longitude: Double) {
    self.latitude = latitude
    self.longitude = longitude
  }

  var isInRange: Bool { (-90...90).contains(latitude) && (-180...180).contains(longitude) }
}

/// A vector of numbers, which Firestore distinguishes from arrays. Created by `FieldValue.vector(_:)`.
public struct VectorValue: Hashable, Sendable, Codable {
  /// The components.
  public let array: [Double]

  /// Creates a vector. The backend accepts at most 2 048 components.
  public init(_ array: [Double]) { self.array = array }
  /// Creates a vector. The numbers are stored as doubles.
  public init(_ array: [Float]) { self.array = array.map(Double.init) }
}
