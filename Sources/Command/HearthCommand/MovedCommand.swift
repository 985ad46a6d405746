// SPDX-License-Identifier: Apache-2.0

/// Commands that have another name now. The words of before go on working, and tell the new ones at a terminal.
enum MovedCommand {
  static let places: [String: [String]] = [
    "run": ["play"], "indexes": ["cache", "indexes"],
  ]

  /// The arguments with the present name of their command.
  /// - Returns: also one sentence about the new name; `nil` if the name is the present one.
  static func resolved(_ arguments: [String]) -> (arguments: [String], note: String?) {
    let start = arguments.first == "help" ? 1 : 0
    guard arguments.count > start, let place = places[arguments[start]] else { return (arguments, nil) }
    return (
      arguments[..<start] + place + arguments[(start + 1)...],
      "'hearth \(arguments[start])' is 'hearth \(place.joined(separator: " "))' now."
    )
  }
}
