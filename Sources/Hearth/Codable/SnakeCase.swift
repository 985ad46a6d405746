// SPDX-License-Identifier: Apache-2.0

/// Names of properties as names of fields and back, by the rules of `JSONEncoder`.
enum SnakeCase {
  /// `oneTwoURL` as `one_two_url`. Underscores at either end stay.
  static func from(_ name: String) -> String {
    var result = ""
    let characters = Array(name)
    for (index, character) in characters.enumerated() {
      guard character.isUppercase, index > 0, characters[index - 1] != "_" else {
        result += character.lowercased()
        continue
      }
      // A word begins after a lowercase letter, and with the last capital of a run that a lowercase letter follows.
      let follows = !characters[index - 1].isUppercase
      let leads = index + 1 < characters.count && characters[index + 1].isLowercase
      result += (follows || leads ? "_" : "") + character.lowercased()
    }
    return result
  }

  /// `one_two` as `oneTwo`. Underscores at either end stay.
  static func toCamelCase(_ name: String) -> String {
    let core = name.drop { $0 == "_" }
    guard let end = core.lastIndex(where: { $0 != "_" }) else { return name }
    let words = core[...end].split(separator: "_")
    guard words.count > 1 else { return name }
    let joined = words[0].lowercased() + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    return name.prefix { $0 == "_" } + joined + core[core.index(after: end)...]
  }
}
