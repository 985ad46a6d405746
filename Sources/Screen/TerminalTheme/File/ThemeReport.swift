// SPDX-License-Identifier: Apache-2.0
import TerminalCanvas

/// The result of checking one theme file.
package struct ThemeReport: Hashable, Sendable {
  /// The place where a role is set.
  package struct Place: Hashable, Sendable {
    package var file: String
    package var line: Int?
  }

  package var file: String
  /// `nil` if there are errors.
  package var theme: Theme?
  /// All errors, which make the file unusable.
  package var errors: [ThemeError]
  /// Entries that were ignored.
  package var warnings: [ThemeWarning]
  /// The place that names each role, in the file or one it inherits from.
  var places: [Role: Place]

  /// The roles that cannot be read, or not told apart, each with the place that sets its colour.
  package var lint: [ThemeWarning] {
    guard let theme else { return [] }
    return ThemeLint.findings(theme).map { finding in
      let place = place(of: finding.role)
      let line = place.flatMap { $0.file == file ? $0.line : nil }
      return ThemeWarning(file: file, line: line, reason: finding.description)
    }
  }

  /// Whether the theme can be used and read; ignored entries do not count.
  package var isGood: Bool { errors.isEmpty && lint.isEmpty }

  private func place(of role: Role) -> Place? {
    places[role] ?? role.parent.flatMap { place(of: $0) }
  }
}
