// SPDX-License-Identifier: Apache-2.0

/// Decides whether a client may be watched: `HEARTH_INSPECT` counts more than the settings.
package enum InspectionPermission {
  static let variable = "HEARTH_INSPECT"

  /// - Parameter isInspectable: what holds where the environment says nothing.
  package static func isGiven(unlessSaid isInspectable: Bool, _ environment: [String: String]) -> Bool {
    switch environment[variable] {
    case "1": true
    case "0": false
    default: isInspectable
    }
  }
}
