// SPDX-License-Identifier: Apache-2.0

/// A place on Earth in degrees. Compared as plain numbers, latitude first.
package struct GeoPoint: Hashable, Sendable {
  package var latitude: Double
  package var longitude: Double

  package init(latitude: Double, longitude: Double) {
    self.latitude = latitude
    self.longitude = longitude
  }
}
