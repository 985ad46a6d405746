// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// A place on Earth, in degrees.
public struct GeoPoint: Hashable, Sendable {
  /// -90…90; anything else is reported by the call that writes or queries with it.
  public let latitude: Double
  /// -180…180.
  public let longitude: Double

  /// - Parameters: degrees; what lies outside of −90…90 or −180…180 is reported by the write.
  public init(latitude: Double, longitude: Double) {
    self.latitude = latitude
    self.longitude = longitude
  }

  var isInRange: Bool { (-90...90).contains(latitude) && (-180...180).contains(longitude) }
}
