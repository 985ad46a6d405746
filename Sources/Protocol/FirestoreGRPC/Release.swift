// SPDX-License-Identifier: Apache-2.0

/// The version of Hearth. It is printed by `hearth --version`, and is part of recordings and of requests to servers.
package enum Release {
  /// The version number. `.ci/notices` checks that it equals the version of the newest entry in `.github/CHANGELOG.md`.
  package static let version = "0.1.0"
}
