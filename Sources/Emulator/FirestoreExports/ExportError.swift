// SPDX-License-Identifier: Apache-2.0

/// The reason why an export cannot be read or written: the file, the place in it, and advice if there is any.
package struct ExportError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Kind: Hashable, Sendable {
    /// There is no export, or one that may not be read.
    case absent
    /// The bytes differ from the written ones, or some are missing.
    case damaged
    /// The files are no export of a Firestore database, or hold something that no Firestore document can.
    case unsupported
    /// A file or folder cannot be made or written.
    case unwritable
  }

  package var kind: Kind
  package var file: String
  /// The position in the file, in bytes from its beginning.
  package var offset: Int?
  package var reason: String

  package init(_ kind: Kind, _ file: String, at offset: Int? = nil, _ reason: String) {
    (self.kind, self.file, self.offset, self.reason) = (kind, file, offset, reason)
  }

  package var description: String { "\(file)\(offset.map { ", byte \($0)" } ?? ""): \(reason)" }
}
