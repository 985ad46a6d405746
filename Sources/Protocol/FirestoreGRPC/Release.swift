// SPDX-License-Identifier: Apache-2.0

/// The version of Hearth for people (`hearth --version`), in recordings of sessions, and for servers.
package enum Release {
  /// The version's number; also the newest entry of `.github/CHANGELOG.md`, which `.ci/notices` compares.
  package static let version = "0.1.0"
}
