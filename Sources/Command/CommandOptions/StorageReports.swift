// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import FirestoreBackend
package import FirestoreClientState
import FirestoreLocal
package import FirestoreSQLite
package import FirestoreSync
import Foundation
import Glibc
import Logging

/// Sentences about events of the data and the cache, such as commits lost in a power failure. Each is written to the
/// log and sent to the screen, which is the only reader. Sentences are buffered until the screen reads them.
package struct StorageReports: Sendable {
  /// The sentences in order. If more than 64 are unread, newer sentences are only in the log.
  package let sentences: AsyncStream<String>
  private let continuation: AsyncStream<String>.Continuation

  package init() { (sentences, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(64)) }

  /// Returns a function that sends sentences about one part of the storage to the log and the screen.
  /// - Parameter label: the part's name in the log.
  package func report(_ label: String) -> @Sendable (String) -> Void {
    let (log, continuation) = (Logger(label: label), continuation)
    return { sentence in
      log.warning("\(sentence)")
      continuation.yield(sentence)
    }
  }
}

extension StorageNotice {
  /// - Parameter isDataShared: whether the data is shared. If so, another process may have the cache open.
  package init(_ problem: CacheProblem, isDataShared: Bool = false) {
    if isDataShared, problem.isInMemory, problem.error.kind == .locked {
      self.init(
        badge: "CACHE IN MEMORY", message: "Only the cache is in memory; the data is shared. \(problem.error.message)")
      return
    }
    let badge =
      switch problem.error.kind {
      case .locked: "IN MEMORY: cache locked"
      case .notWritable: "IN MEMORY: cache not writable"
      case .notPrivate: "IN MEMORY: cache folder open to others"
      case .newerSchema: "IN MEMORY: cache of a newer version"
      case .foreign: "IN MEMORY: cache of another database"
      case .corrupt: "NEW CACHE: the old one is damaged"
      case .diskFull: "IN MEMORY: disk full"
      case .gone: "IN MEMORY: cache deleted"
      case .refused, .leaseLost, .injected, .uncertain, .sqlite: "IN MEMORY: cache cannot be opened"
      }
    self.init(badge: badge, message: problem.notice)
  }

  /// A notice that the data could not be opened, and that an empty backend in memory replaces it.
  package init(backend error: StoreError) {
    let badge =
      switch error.kind {
      case .locked: "IN MEMORY: data locked"
      case .notWritable: "IN MEMORY: data folder not writable"
      case .notPrivate: "IN MEMORY: data folder open to others"
      case .newerSchema: "IN MEMORY: data of a newer version"
      case .corrupt, .gone, .diskFull, .refused, .foreign, .leaseLost, .injected, .uncertain, .sqlite:
        "IN MEMORY: data cannot be opened"
      }
    // The most important part comes first: a screen truncates the rest.
    self.init(
      badge: badge, message: "In memory only\(error.kind == .locked ? ": the data is in use" : ""). \(error.message)")
  }
}

/// Access to data on a read-only file system, such as a failing disk or a snapshot. Neither the lock nor SQLite's log
/// can be opened there, so commands that read use a copy:
/// ```
/// folder ──copy──► a private temporary folder ──open──► backend, then the folder is deleted
/// ```
/// The open files remain readable until the process ends. Then the system removes them. The backend rejects every
/// commit.
package enum ReadOnlyDisk {
  /// Whether a data folder is on a read-only file system.
  package static func holds(_ folder: String) -> Bool {
    var information = statvfs()
    return LocalBackend.exists(in: folder) && statvfs(folder, &information) == 0
      && information.f_flag & UInt(ST_RDONLY) != 0
  }

  /// Opens a copy of the data.
  /// - Throws: `notWritable` if there is no space for the copy; `corrupt` if the data is damaged.
  static func open(_ folder: String) throws(StoreError) -> LocalBackend {
    var template = Array((FileManager.default.temporaryDirectory.path + "/hearth-XXXXXX").utf8CString)
    guard mkdtemp(&template) != nil else {
      throw StoreError(.notWritable, "Cannot create a temporary folder: \(StoreError.reason(errno)).")
    }
    let copy = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    // A folder that cannot be deleted is private, and holds only a copy.
    defer { try? FileManager.default.removeItem(atPath: copy) }
    for name in ["backend.sqlite3", "backend.sqlite3-wal"] where access("\(folder)/\(name)", F_OK) == 0 {
      do { try FileManager.default.copyItem(atPath: "\(folder)/\(name)", toPath: "\(copy)/\(name)") } catch {
        throw StoreError(.notWritable, "\(folder)/\(name) cannot be copied to \(copy): \(error.localizedDescription)")
      }
    }
    var configuration = BackendConfiguration(
      location: .directory(copy), now: { .now }, report: { StandardError.remark($0) })
    configuration.isPrivateCopy = true
    return try LocalBackend(configuration)
  }
}
