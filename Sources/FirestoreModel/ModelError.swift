// SPDX-License-Identifier: Apache-2.0

/// Something that cannot be a Firestore path, field, value or write: `invalid-argument` for what a user gave,
/// `data-loss` for stored bytes that do not read back.
package struct ModelError: Error, Hashable, Sendable, CustomStringConvertible {
  package var code: StatusCode
  package var message: String

  package init(_ code: StatusCode, _ message: String) {
    self.code = code
    self.message = message
  }

  /// An `invalid-argument`.
  package init(_ message: String) { self.init(.invalidArgument, message) }

  package var description: String { message }
}
