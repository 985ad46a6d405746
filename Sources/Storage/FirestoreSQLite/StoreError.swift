// SPDX-License-Identifier: Apache-2.0
import CSQLite
package import FirestoreModel
import Glibc

/// An error of a store (the cache or the backend's data). The call that failed stored nothing, unless the kind is
/// `uncertain`.
@usableFromInline package struct StoreError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Kind: Hashable, Sendable {
    /// Another process, or another store in this process, has locked the directory.
    case locked
    case notWritable
    /// The directory or a file in it is accessible to other users, or is not a regular directory or file of this user.
    case notPrivate
    /// The stored data is damaged: it differs from the data that was written.
    case corrupt
    /// The files were removed while they were in use (`OpenFiles`).
    case gone
    /// The data was written by a newer version of this program.
    case newerSchema
    /// The cache belongs to another Firestore database (`CacheIdentity`).
    case foreign
    /// Another process that shares the cache is now the primary client. Work that only the primary client may do was
    /// not done.
    case leaseLost
    case diskFull
    /// A commit failed and could not be removed from the log. It may reappear after a restart.
    case uncertain
    /// The request itself is invalid.
    case refused(StatusCode)
    /// The failure was injected with `LocalStore.faults`.
    case injected
    /// Any other failure of SQLite.
    case sqlite
  }

  package var kind: Kind
  /// The text for users. Contains the name of the data and advice, but no field values.
  package var message: String

  package init(_ kind: Kind, _ message: String) {
    self.kind = kind
    self.message = message
  }

  @usableFromInline package var description: String { message }

  /// The system's message for an error number.
  package static func reason(_ code: Int32) -> String { String(cString: strerror(code)) }
}

extension StoreError {
  /// - Parameters:
  ///   - resultCode: the extended result code of SQLite.
  ///   - detail: SQLite's message, which names tables but contains no values.
  ///   - systemError: the system's last error number; 0 if unknown.
  ///   - name: the name of the data, such as "cache".
  package init(resultCode: Int32, _ detail: String, systemError: Int32 = 0, of name: String) {
    switch resultCode & 0xff {
    case SQLITE_BUSY, SQLITE_LOCKED:
      self.init(.locked, "The \(name) is in use by another program (\(detail)). Close that program and start again.")
    case SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH:
      self.init(.notWritable, "The \(name) cannot be written (\(detail)). Check the directory's permissions.")
    case SQLITE_CORRUPT, SQLITE_NOTADB: self.init(.corrupt, "The \(name) is damaged (\(detail)).")
    case SQLITE_IOERR where resultCode == Self.damagedPage:
      self.init(.corrupt, "A page of the \(name) is damaged: its checksum does not match.")
    case SQLITE_FULL: self = .diskFull(name, detail)
    // The disk or a quota is full, or the file reached its size limit.
    case SQLITE_IOERR where [ENOSPC, EDQUOT, EFBIG].contains(systemError): self = .diskFull(name, detail)
    // The error number is unknown if a COMMIT could not write. Most likely the disk is full.
    case SQLITE_IOERR where systemError == 0 && Self.failuresToWrite.contains(resultCode):
      self.init(.diskFull, "The \(name) cannot be written to disk (\(detail)). Nothing was stored.")
    default: self.init(.sqlite, "The \(name) failed: \(detail) (SQLite code \(resultCode)).")
    }
  }

  private static func diskFull(_ name: String, _ detail: String) -> StoreError {
    StoreError(
      .diskFull, "The disk that holds the \(name) is full (\(detail)). Nothing was stored. Free some space.")
  }

  /// The result code SQLITE_IOERR_DATA, which `PageChecksums` returns.
  private static let damagedPage = SQLITE_IOERR | 32 << 8
  /// The result codes for a file that could not be written, flushed or extended: SQLITE_IOERR_WRITE, _FSYNC,
  /// _DIR_FSYNC, _TRUNCATE, _SHMOPEN, _SHMSIZE and _SHMMAP.
  private static let failuresToWrite = Set<Int32>([3, 4, 5, 6, 18, 19, 21].map { SQLITE_IOERR | $0 << 8 })
}
