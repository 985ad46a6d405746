// SPDX-License-Identifier: Apache-2.0

/// Why an export cannot be read or written: the file, the place in it, and the way out where there is one.
package struct ExportError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Kind: Hashable, Sendable {
    /// There is no export, or one that may not be read.
    case absent
    /// The bytes are not those that were written, or not all of them.
    case damaged
    /// What this is no export of a Firestore database, or holds what no Firestore document can.
    case unsupported
    /// A file or folder cannot be made or written.
    case unwritable
  }

  package var kind: Kind
  package var file: String
  /// Bytes of the file before the place.
  package var offset: Int?
  package var reason: String

  package init(_ kind: Kind, _ file: String, at offset: Int? = nil, _ reason: String) {
    (self.kind, self.file, self.offset, self.reason) = (kind, file, offset, reason)
  }

  package var description: String { "\(file)\(offset.map { ", byte \($0)" } ?? ""): \(reason)" }
}
