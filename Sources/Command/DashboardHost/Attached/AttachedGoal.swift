// SPDX-License-Identifier: Apache-2.0
import FirestoreText

/// The condition that ends `hearth attach --json --until`.
package enum AttachedGoal: Hashable, Sendable {
  /// The types of lines that tell what happens.
  package enum Kind: String, CaseIterable, Hashable, Sendable {
    case listener, snapshot, stopped, write, pending, rejected, indexes, status, faults, missed
  }

  /// A number of lines after the first one, which names the program.
  case count(Int)
  /// A line of this type.
  case line(Kind)

  package static func parse(_ text: String) throws -> AttachedGoal {
    if let count = Int(text), count > 0 { return .count(count) }
    if let kind = Kind(rawValue: text) { return .line(kind) }
    throw TextError("Expected a number of lines, or \(Kind.allCases.map(\.rawValue).joined(separator: ", ")).")
  }

  /// - Parameters:
  ///   - line: a line that was printed.
  ///   - number: how many were printed with it.
  func isReached(by line: String, number: Int) -> Bool {
    switch self {
    case .count(let count): number >= count
    // The type is the first member of each line.
    case .line(let kind): line.hasPrefix(#"{"type": "\#(kind.rawValue)""#)
    }
  }
}
