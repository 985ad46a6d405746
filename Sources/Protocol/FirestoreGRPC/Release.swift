// SPDX-License-Identifier: Apache-2.0

/// The version of Hearth in `hearth --version`, in recordings of sessions, and in requests to servers.
package enum Release {
  /// The version number. `.ci/notices` checks that it equals the newest entry's in `.github/CHANGELOG.md`.
  package static let version = "0.1.0"
}
