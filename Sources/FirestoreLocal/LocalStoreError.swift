// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// Why the cache could not do what it was asked. Nothing of the failed call has been stored.
package struct LocalStoreError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Kind: Hashable, Sendable {
    /// Another process, or another store in this one, holds the directory.
    case locked
    case notWritable
    /// The directory or a file in it is open to other users, or not what it seems to be.
    case notPrivate
    case corrupt
    /// Written by a newer version of this program.
    case newerSchema
    /// It belongs to another database (`CacheIdentity`).
    case foreign
    case diskFull
    /// Asked for with `LocalStore.faults`.
    case injected
    /// Any other failure of SQLite.
    case sqlite

    /// The Firestore code under which a user sees an error of this kind.
    package var code: StatusCode {
      switch self {
      case .locked, .newerSchema, .foreign: .failedPrecondition
      case .notWritable, .notPrivate: .unimplemented
      case .corrupt: .dataLoss
      case .diskFull: .resourceExhausted
      case .injected: .unavailable
      case .sqlite: .internal
      }
    }
  }

  package var kind: Kind
  package var message: String

  package init(_ kind: Kind, _ message: String) {
    self.kind = kind
    self.message = message
  }

  /// The Firestore code under which a user sees this error.
  package var code: StatusCode { kind.code }

  package var description: String { message }
}
