// SPDX-License-Identifier: Apache-2.0
package import TerminalCanvas

/// Checks the readability of a theme: the contrast of each role, at least 4.5 for text. If a theme states that it is
/// suitable for color-blind people, also checks that they can distinguish its colors. Checks the colors with true color
/// and with 256 colors.
package enum ThemeLint {
  package struct Finding: Hashable, Sendable, CustomStringConvertible {
    package var depth: ColorDepth
    /// The role with the problem. If two roles look too similar, this is the second of them.
    package var role: Role
    package var subject: String
    package var value: Double
    package var minimum: Double

    package var description: String {
      func short(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
      return
        "\(subject): \(short(value)) \(depth == .c256 ? "in 256 colors" : "in true color"), needs \(short(minimum))"
    }
  }

  /// The problems of a theme; empty if there are none. Colors whose value only the terminal knows are not checked.
  package static func findings(_ theme: Theme) -> [Finding] {
    [ColorDepth.trueColor, .c256].flatMap { depth in
      Role.allCases.compactMap { contrast(of: $0, in: theme, at: depth) }
        + (theme.isColorBlindSafe ? confusions(in: theme, at: depth) : [])
    }
  }

  /// The smallest difference between two of the roles, over all kinds of color vision; `nil` if the roles have no fixed
  /// colors.
  static func smallestDifference(among roles: [Role], in theme: Theme, at depth: ColorDepth) -> Double? {
    let colors = roles.compactMap { theme.style(of: $0).foreground?.rgb(at: depth) }
    guard colors.count == roles.count else { return nil }
    return ColorVision.allCases.flatMap { vision in
      colors.indices.flatMap { i in colors[..<i].map { vision.difference($0, colors[i]) } }
    }.min()
  }

  /// The minimum contrast of text. Signs that only repeat the text have a lower minimum (WCAG 2 AA).
  package static let leastOfText = 4.5
  private static let leastOfSigns = 3.0

  /// The minimum contrast of a role; `nil` for separator lines. Colors of recurring values and of listener names count
  /// as text.
  private static func minimumContrast(_ role: Role) -> Double? {
    switch role {
    case .border, .scrollTrack: nil
    case .cursorGutter, .chartLow, .chartMid, .chartHigh, .chartOutage, .scrollThumb: leastOfSigns
    default: leastOfText
    }
  }

  private static func contrast(of role: Role, in theme: Theme, at depth: ColorDepth) -> Finding? {
    let style = theme.style(of: role)
    guard let minimum = minimumContrast(role), let ink = style.foreground?.rgb(at: depth),
      let paper = style.background?.rgb(at: depth)
    else { return nil }
    let value = ink.contrast(to: paper)
    return value < minimum
      ? Finding(depth: depth, role: role, subject: "contrast of \(role.rawValue)", value: value, minimum: minimum) : nil
  }

  /// Checks roles with opposite meanings. Their difference must be at least 25 for every kind of color vision.
  private static func confusions(in theme: Theme, at depth: ColorDepth) -> [Finding] {
    let groups: [[Role]] = [
      [.changeAdded, .changeModified, .changeRemoved], [.stateOnline, .stateConnecting, .stateFault],
    ]
    return groups.flatMap { group in
      group.indices.flatMap { i in
        group[..<i].compactMap { other -> Finding? in
          guard let value = smallestDifference(among: [other, group[i]], in: theme, at: depth), value < 25 else {
            return nil
          }
          return Finding(
            depth: depth, role: group[i],
            subject: "difference of \(other.rawValue) and \(group[i].rawValue) for color-blind people", value: value,
            minimum: 25)
        }
      }
    }
  }
}

extension RGB {
  /// The WCAG 2 contrast ratio, from 1 to 21.
  func contrast(to other: RGB) -> Double {
    let (one, two) = (linear.luminance, other.linear.luminance)
    return (max(one, two) + 0.05) / (min(one, two) + 0.05)
  }
}

extension LinearRGB {
  /// Relative luminance as WCAG 2 defines it.
  var luminance: Double { 0.2126 * red + 0.7152 * green + 0.0722 * blue }
}

/// The result of checking one theme file.
package struct ThemeReport: Hashable, Sendable {
  /// The position of a role's definition.
  package struct Place: Hashable, Sendable {
    package var file: String
    package var line: Int?
  }

  package var file: String
  /// The theme; `nil` if the file has errors.
  package var theme: Theme?
  /// All errors, which make the file unusable.
  package var errors: [ThemeError]
  /// Entries that were ignored.
  package var warnings: [ThemeWarning]
  /// The position of each role's definition, in the file or in an inherited file.
  var places: [Role: Place]

  /// The roles that are unreadable or indistinguishable, each with the position that sets its color.
  package var lint: [ThemeWarning] {
    guard let theme else { return [] }
    return ThemeLint.findings(theme).map { finding in
      let place = place(of: finding.role)
      let line = place.flatMap { $0.file == file ? $0.line : nil }
      return ThemeWarning(file: file, line: line, reason: finding.description)
    }
  }

  /// Whether the theme is usable and readable. Ignored entries do not matter.
  package var isGood: Bool { errors.isEmpty && lint.isEmpty }

  private func place(of role: Role) -> Place? {
    places[role] ?? role.parent.flatMap { place(of: $0) }
  }
}

/// A kind of color vision: with all three kinds of cone cells, or without one kind.
///
/// The matrices are from Machado, Oliveira and Fernandes (2009) for full severity, applied to linear light.
enum ColorVision: String, CaseIterable, Hashable, Sendable {
  case normal, protanopia, deuteranopia, tritanopia

  func perceived(_ color: RGB) -> LinearRGB {
    let light = color.linear
    func channel(_ row: [Double]) -> Double {
      min(max(row[0] * light.red + row[1] * light.green + row[2] * light.blue, 0), 1)
    }
    let rows = matrix
    return LinearRGB(red: channel(rows[0]), green: channel(rows[1]), blue: channel(rows[2]))
  }

  /// The CIE76 difference of two colors as perceived with this vision.
  func difference(_ one: RGB, _ two: RGB) -> Double {
    Lab(perceived(one)).difference(to: Lab(perceived(two)))
  }

  private var matrix: [[Double]] {
    switch self {
    case .normal: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    case .protanopia:
      [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    case .deuteranopia:
      [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    case .tritanopia:
      [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    }
  }
}

/// The important colors of a theme as a person with a kind of color vision perceives them, and the smallest difference
/// between them.
package struct VisionPreview: Hashable, Sendable {
  package struct Swatch: Hashable, Sendable {
    /// The name of the role's meaning: `added`.
    package var word: String
    package var role: Role
    /// The color as it is perceived with this kind of color vision.
    package var color: RGB
  }

  /// Two roles of one group and their CIE76 difference. A difference of 25 is obvious at a glance.
  package struct Pair: Hashable, Sendable {
    package var one: String
    package var other: String
    package var difference: Double
  }

  /// The kind of color vision: `normal`, `protanopia`, `deuteranopia` or `tritanopia`.
  package let vision: String
  /// The background as it is perceived with this kind of color vision.
  package let paper: RGB
  package let swatches: [Swatch]
  package let nearest: Pair

  /// The roles that must not be confused with each other.
  private static let groups: [[(word: String, role: Role)]] = [
    [("added", .changeAdded), ("modified", .changeModified), ("removed", .changeRemoved)],
    [("online", .stateOnline), ("connecting", .stateConnecting), ("fault", .stateFault)],
  ]

  /// - Returns: an empty array for a theme whose colors only the terminal knows.
  package static func all(of theme: Theme, at depth: ColorDepth) -> [VisionPreview] {
    guard let paper = theme.style(of: .text).background?.rgb(at: depth) else { return [] }
    return ColorVision.allCases.compactMap { vision in
      var swatches: [Swatch] = []
      var nearest: Pair?
      for group in groups {
        let colors = group.compactMap { entry in
          theme.style(of: entry.role).foreground?.rgb(at: depth).map { (entry.word, entry.role, $0) }
        }
        guard colors.count == group.count else { return nil }
        swatches += colors.map { Swatch(word: $0.0, role: $0.1, color: RGB(vision.perceived($0.2))) }
        for (index, one) in colors.enumerated() {
          for other in colors[..<index] {
            let difference = vision.difference(one.2, other.2)
            if difference < nearest?.difference ?? .infinity {
              nearest = Pair(one: other.0, other: one.0, difference: difference)
            }
          }
        }
      }
      return nearest.map {
        VisionPreview(vision: vision.rawValue, paper: RGB(vision.perceived(paper)), swatches: swatches, nearest: $0)
      }
    }
  }
}
