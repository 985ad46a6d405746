// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Why the files of a store cannot be used as they are.
package struct StoreError: Error, Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    /// Someone else has the directory, with this process id where it is known.
    case locked(holder: Int32?)
    case notWritable
    /// The directory or a file in it is not this user's alone, so that others could read or replace what is stored.
    case notPrivate
    /// What the files say of each other shows that something is missing.
    case corrupt
  }

  package var kind: Kind
  /// Names the thing and the way out.
  package var message: String

  package init(_ kind: Kind, _ message: String) {
    self.kind = kind
    self.message = message
  }

  /// The system's words for an error number.
  static func reason(_ code: Int32) -> String { String(cString: strerror(code)) }
}
