// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import FirestoreSQLite
import GRDB
import GRDBSQLite
import Glibc

/// Why the backend could not be opened, or refused or failed a request.
package struct BackendError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Kind: Hashable, Sendable {
    /// Another process (or another backend of this one) holds the directory.
    case locked
    case notWritable
    /// The directory or a file in it is open to other users.
    case notPrivate
    /// What is stored is not what was written. Nothing more is written until it has been repaired.
    case corrupt
    /// The file was written by a later version of Hearth.
    case newerSchema
    case diskFull
    /// The request itself is at fault; nothing was applied.
    case refused(StatusCode)
    case sqlite
  }

  package var kind: Kind
  /// Names the thing and the way out; holds no field values.
  package var message: String

  package init(_ kind: Kind, _ message: String) {
    self.kind = kind
    self.message = message
  }

  static func refused(_ code: StatusCode, _ message: String) -> BackendError { BackendError(.refused(code), message) }

  package var code: StatusCode {
    switch kind {
    case .locked, .notWritable, .notPrivate, .newerSchema: .failedPrecondition
    case .corrupt: .dataLoss
    case .diskFull: .resourceExhausted
    case .refused(let code): code
    case .sqlite: .internal
    }
  }

  package var status: RPCStatus { RPCStatus(code, message) }
  package var description: String { "\(code.name): \(message)" }
}

extension BackendError {
  /// An error that came through GRDB's untyped closures: one of ours unchanged, or one of SQLite's by its result code.
  init(_ error: any Error) {
    switch error {
    case let error as BackendError: self = error
    case let error as StoreError: self.init(error)
    case let error as DatabaseError:
      self.init(resultCode: error.extendedResultCode.rawValue, message: error.message ?? "no message")
    default: self.init(.sqlite, String(describing: error))
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

  /// - Parameters:
  ///   - resultCode: of SQLite, extended.
  ///   - message: SQLite's own words, which name tables but hold no values.
  ///   - systemError: what the system answered last, where it is known.
  init(resultCode: Int32, message: String, systemError: Int32 = 0) {
    switch resultCode & 0xFF {
    case SQLITE_FULL: self = .full
    // A quota, or a limit of the size of files.
    case SQLITE_IOERR where [ENOSPC, EDQUOT, EFBIG].contains(systemError): self = .full
    case SQLITE_IOERR where resultCode == Self.damagedPage:
      self.init(.corrupt, "A page of the backend's data is not what was written there.")
    case SQLITE_CORRUPT, SQLITE_NOTADB: self.init(.corrupt, "The backend's data is damaged: \(message).")
    case SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH:
      self.init(.notWritable, "The backend's database cannot be written (\(message)).")
    case SQLITE_BUSY, SQLITE_LOCKED: self.init(.locked, "The backend's database is in use (\(message)).")
    default: self.init(.sqlite, "SQLite reported error \(resultCode): \(message).")
    }
  }

  private static let full = BackendError(
    .diskFull, "The disk is full; the backend applied nothing. Free some space and retry.")

  /// SQLITE_IOERR_DATA, which is what `PageChecksums` answers.
  private static let damagedPage = SQLITE_IOERR | 32 << 8
}
