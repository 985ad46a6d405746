// SPDX-License-Identifier: Apache-2.0
import TerminalCanvas

/// What is to be said about one theme file.
package struct ThemeReport: Hashable, Sendable {
  /// Where a role is set.
  package struct Place: Hashable, Sendable {
    package var file: String
    package var line: Int?
  }

  package var file: String
  /// `nil` if there are errors.
  package var theme: Theme?
  /// What makes it unusable, all of it.
  package var errors: [ThemeError]
  /// What was ignored.
  package var warnings: [ThemeWarning]
  /// Where the file, or one it inherits from, names each role.
  var places: [Role: Place]

  /// What people could not read, or not tell apart, each with the place that the colour comes from.
  package var lint: [ThemeWarning] {
    guard let theme else { return [] }
    return ThemeLint.findings(theme).map { finding in
      let place = place(of: finding.role)
      let line = place.flatMap { $0.file == file ? $0.line : nil }
      return ThemeWarning(file: file, line: line, reason: finding.description)
    }
  }

  /// Whether nothing speaks against using it; what was ignored does not.
  package var isGood: Bool { errors.isEmpty && lint.isEmpty }

  private func place(of role: Role) -> Place? {
    places[role] ?? role.parent.flatMap { place(of: $0) }
  }
}
