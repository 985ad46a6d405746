// SPDX-License-Identifier: Apache-2.0
package import TerminalCanvas

/// A theme's telling colours as people see them who lack one kind of cones, and how far apart the nearest two then are.
package struct VisionPreview: Hashable, Sendable {
  package struct Swatch: Hashable, Sendable {
    /// The word that stands for the role: `added`.
    package var word: String
    package var role: Role
    /// The colour as it is perceived.
    package var color: RGB
  }

  /// Two roles of one group, and their CIE76 difference: 25 is plain at a glance.
  package struct Pair: Hashable, Sendable {
    package var one: String
    package var other: String
    package var difference: Double
  }

  /// `normal`, `protanopia`, `deuteranopia` or `tritanopia`.
  package let vision: String
  /// The background as it is perceived.
  package let paper: RGB
  package let swatches: [Swatch]
  package let nearest: Pair

  /// The roles whose meanings must not be taken for each other.
  private static let groups: [[(word: String, role: Role)]] = [
    [("added", .changeAdded), ("modified", .changeModified), ("removed", .changeRemoved)],
    [("online", .stateOnline), ("connecting", .stateConnecting), ("fault", .stateFault)],
  ]

  /// - Returns: none for a theme whose colours only the terminal knows.
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
