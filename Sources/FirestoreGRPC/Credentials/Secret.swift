// SPDX-License-Identifier: Apache-2.0

/// A text that must not be seen: no description, dump or interpolation shows it.
package struct Secret: Hashable, Sendable {
  /// The text itself, for the server that it is meant for and no other.
  let revealed: String

  package init(_ text: String) { revealed = text }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "(hidden)" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

/// What proves who is calling, and until when.
struct AccessToken: Hashable, Sendable {
  var secret: Secret
  /// `nil` for one that does not expire.
  var expiry: Int64?

  /// Seconds before the expiry at which a token is no longer used, so that it does not expire on the way.
  static let margin: Int64 = 300

  /// - Parameter now: seconds since 1970.
  func isUsable(at now: Int64) -> Bool { expiry.map { now < $0 - Self.margin } ?? true }
}
