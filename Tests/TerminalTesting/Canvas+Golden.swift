// SPDX-License-Identifier: Apache-2.0
package import TerminalCanvas

extension Canvas {
  /// The text of one row, as wide as the canvas.
  package func text(row y: Int) -> String {
    var text = String.UnicodeScalarView()
    for cell in row(y) { text.append(contentsOf: cell.cluster.scalars) }
    return String(text)
  }

  /// One letter (`Role.code`) per column of one row; a blank in the role `text` is a space.
  package func roles(row y: Int) -> String {
    String(row(y).map { $0 == .blank ? " " : $0.role.code })
  }

  /// The whole canvas as text, without trailing blanks.
  package var text: String {
    (0..<size.height).map { text(row: $0).trimmingTrailingSpaces }.joined(separator: "\n")
  }

  /// A dump for golden files: what is written, then what it means, then the letters used.
  ///
  /// Colours are absent on purpose: a theme may change without touching a golden file, and a changed role is visible.
  package func golden(caption: String = "") -> String {
    var lines = ["# size \(size.width)x\(size.height)" + (caption.isEmpty ? "" : "  \(caption)")]
    if let cursor { lines.append("# cursor \(cursor.x),\(cursor.y)") }
    lines += (0..<size.height).map { "|\(text(row: $0))|" }
    lines.append("-- roles")
    lines += (0..<size.height).map { "|\(roles(row: $0))|" }
    lines.append("-- legend")
    let used = Set(cells(where: { $0 != .blank }).map(\.role))
    lines += Role.allCases.filter(used.contains).map { "\($0.code) \($0.rawValue)" }
    return lines.joined(separator: "\n") + "\n"
  }

  private func cells(where matches: (Cell) -> Bool) -> [Cell] { (0..<size.height).flatMap { row($0).filter(matches) } }
}

extension String {
  fileprivate var trimmingTrailingSpaces: String {
    String(self[..<(lastIndex { $0 != " " }.map(index(after:)) ?? startIndex)])
  }
}

extension Role {
  /// The one-character name of the role in golden files; stable as long as no role is inserted before it.
  package var code: Character { Self.codes[self] ?? " " }

  private static let codes: [Role: Character] = {
    let alphabet = ".mSubtTnsBGMAlkhHPOZ0123oiweaprczyxfLV@!qIKWR\"jN#?vdEFCD/*_gJUYQX%&+=~^$<>[]{}"
    return Dictionary(uniqueKeysWithValues: zip(allCases, alphabet))
  }()
}
