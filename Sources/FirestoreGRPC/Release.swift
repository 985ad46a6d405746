// SPDX-License-Identifier: Apache-2.0

/// What this version of Hearth calls itself: to people (`hearth --version`), in recordings of sessions, and to servers.
package enum Release {
  /// Also the newest entry of `.github/CHANGELOG.md`, which `.ci/notices` compares.
  package static let version = "0.1.0"
}
