// SPDX-License-Identifier: Apache-2.0
package import TerminalCanvas

/// Checks that a theme can be read: contrast per role, 4.5 for every text, and for themes that promise it, colours that colour-blind
/// people can tell apart. Checked in true colour and after reduction to 256 colours, which can undo both.
package enum ThemeLint {
  package struct Finding: Hashable, Sendable, CustomStringConvertible {
    package var depth: ColorDepth
    /// The role at fault, or the second of two.
    package var role: Role
    package var subject: String
    package var value: Double
    package var minimum: Double

    package var description: String {
      func short(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
      return
        "\(subject): \(short(value)) \(depth == .c256 ? "in 256 colours" : "in true colour"), needs \(short(minimum))"
    }
  }

  /// The faults of a theme; empty for a good one. Colours that only the terminal knows are not judged.
  package static func findings(_ theme: Theme) -> [Finding] {
    [ColorDepth.trueColor, .c256].flatMap { depth in
      Role.allCases.compactMap { contrast(of: $0, in: theme, at: depth) }
        + (theme.isColorBlindSafe ? confusions(in: theme, at: depth) : [])
    }
  }

  /// The smallest difference between two of `roles` over all kinds of colour vision; `nil` without fixed colours.
  static func smallestDifference(among roles: [Role], in theme: Theme, at depth: ColorDepth) -> Double? {
    let colors = roles.compactMap { theme.style(of: $0).foreground?.rgb(at: depth) }
    guard colors.count == roles.count else { return nil }
    return ColorVision.allCases.flatMap { vision in
      colors.indices.flatMap { i in colors[..<i].map { vision.difference($0, colors[i]) } }
    }.min()
  }

  /// The least contrast of text, and of signs that only repeat what text says (WCAG 2 AA).
  package static let leastOfText = 4.5
  private static let leastOfSigns = 3.0

  /// The least contrast of a role; `nil` for lines that only separate. Values that recur and the names of listeners are
  /// text like any other.
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

  /// Checks roles with opposite meanings, which must differ by at least 25 in every kind of colour vision.
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
            subject: "difference of \(other.rawValue) and \(group[i].rawValue) for colour-blind people", value: value,
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
