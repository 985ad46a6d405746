// SPDX-License-Identifier: Apache-2.0

/// The version of Hearth, as shown to users (`hearth --version`), in recordings of sessions, and to servers.
package enum Release {
  /// The version number, also of the newest entry in `.github/CHANGELOG.md`; `.ci/notices` compares them.
  package static let version = "0.1.0"
}
