// SPDX-License-Identifier: Apache-2.0

/// Decides whether a client may be watched: `HEARTH_INSPECT` counts more than the settings.
enum InspectionPermission {
  static let variable = "HEARTH_INSPECT"

  static func isGiven(_ settings: FirestoreSettings.Storage, _ environment: [String: String]) -> Bool {
    switch environment[variable] {
    case "1": true
    case "0": false
    default: settings.isInspectable
    }
  }
}
