// SPDX-License-Identifier: Apache-2.0
import FirestoreText
import ShippedScenarios

/// A scenario that comes with the program.
package struct ShippedScenario: Sendable {
  package let name: String
  /// One sentence about what it shows.
  package let summary: String
  package let text: String

  /// All of them, in the order of the manual.
  package static let all: [ShippedScenario] = ScenarioFiles.sources.flatMap {
    split(String(decoding: $0, as: UTF8.self))
  }

  /// The scenarios of a file: each begins with `=== NAME`.
  private static func split(_ file: String) -> [ShippedScenario] {
    file.split(separator: "=== ").compactMap { part in
      let lines = part.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = lines.first?.trimming(), !name.isEmpty, lines.count == 2 else { return nil }
      let text = lines[1].trimming()
      let summary = text.prefix { $0 != "\n" }.drop { $0 == "#" }.trimming()
      return ShippedScenario(name: String(name), summary: String(summary), text: String(text) + "\n")
    }
  }
}
