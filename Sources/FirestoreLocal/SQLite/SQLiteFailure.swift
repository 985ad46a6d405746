// SPDX-License-Identifier: Apache-2.0
import FirestoreSQLite
import GRDB
import GRDBSQLite

extension LocalStoreError {
  /// - Parameters:
  ///   - code: an extended SQLite result code.
  ///   - detail: SQLite's own words; they name tables, never user data.
  init(sqlite code: Int32, _ detail: String) {
    switch code & 0xff {
    case SQLITE_BUSY, SQLITE_LOCKED:
      self.init(.locked, "The cache is in use by someone else (\(detail)); close the other program and start again.")
    case SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH:
      self.init(.notWritable, "The cache cannot be written (\(detail)); check the directory's permissions.")
    case SQLITE_CORRUPT, SQLITE_NOTADB:
      self.init(.corrupt, "The cache is damaged (\(detail)); it will be moved aside at the next start.")
    case SQLITE_FULL:
      self.init(.diskFull, "The disk that holds the cache is full (\(detail)); nothing was stored. Free some space.")
    case SQLITE_IOERR where Self.failsToWrite(code):
      self.init(.diskFull, "The cache cannot be written to disk (\(detail)); nothing was stored.")
    default:
      self.init(.sqlite, "The cache failed: \(detail) (SQLite code \(code)).")
    }
  }

  init(_ error: any Error) {
    switch error {
    case let error as LocalStoreError: self = error
    case let error as StoreError: self.init(error)
    case let error as DatabaseError:
      self.init(sqlite: error.extendedResultCode.rawValue, error.message ?? "no details")
    default: self.init(.sqlite, "The cache failed: \(error)")
    }
  }

  init(_ error: StoreError) {
    let kind: Kind =
      switch error.kind {
      case .locked: .locked
      case .notWritable: .notWritable
      case .notPrivate: .notPrivate
      case .corrupt: .corrupt
      }
    self.init(kind, error.message)
  }

  /// Writing, flushing or growing a file failed: what a full disk, a quota or a dying disk looks like.
  private static func failsToWrite(_ extendedCode: Int32) -> Bool {
    switch ResultCode(rawValue: extendedCode) {
    case .SQLITE_IOERR_WRITE, .SQLITE_IOERR_FSYNC, .SQLITE_IOERR_DIR_FSYNC, .SQLITE_IOERR_TRUNCATE,
      .SQLITE_IOERR_SHMSIZE, .SQLITE_IOERR_SHMOPEN, .SQLITE_IOERR_SHMMAP:
      true
    default: false
    }
  }
}
