// SPDX-License-Identifier: Apache-2.0

/// The version of Hearth that `hearth --version`, recordings of sessions and requests to servers contain.
package enum Release {
  /// The version number. `.ci/notices` checks that it equals the version of the newest entry in `.github/CHANGELOG.md`.
  package static let version = "0.1.0"
}
