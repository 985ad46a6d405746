// SPDX-License-Identifier: Apache-2.0
package import FirestoreJSON

/// Names why a typed text is not understood, and the place in it.
package struct TextError: Error, Hashable, Sendable {
  /// Counted from 1, in Unicode scalars; `nil` when all of the text is meant.
  package var column: Int?
  package var reason: String

  package init(column: Int? = nil, _ reason: String) {
    self.column = column
    self.reason = reason
  }

  /// - Parameter column: where the JSON begins in the text.
  package init(_ error: JSONError, from column: Int) {
    self.init(column: error.line == 1 ? column + error.column - 1 : column, error.reason)
  }

  /// The same error about a text that stands behind so many other scalars.
  package func moved(by columns: Int) -> TextError { TextError(column: (column ?? 1) + columns, reason) }
}

extension TextError: CustomStringConvertible {
  package var description: String { column.map { "column \($0): \(reason)" } ?? reason }
}
