// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON

/// What is wrong with the text of one argument, and where in it.
struct ArgumentError: Error, Hashable, Sendable {
  /// From 1, in Unicode scalars; `nil` when all of it is meant.
  var column: Int?
  var reason: String

  init(column: Int? = nil, _ reason: String) {
    self.column = column
    self.reason = reason
  }

  /// - Parameter column: where the JSON begins in the argument.
  init(_ error: JSONError, from column: Int) {
    self.init(column: error.line == 1 ? column + error.column - 1 : column, error.reason)
  }

  /// - Parameter argument: the option's name, such as `--where`; empty for an argument without one.
  func failure(_ argument: String, _ text: String) -> CommandFailure {
    let place = column.map { ", column \($0)" } ?? ""
    return CommandFailure(.usage, "\(argument)\(argument.isEmpty ? "" : " ")'\(text)'\(place): \(reason)")
  }
}
