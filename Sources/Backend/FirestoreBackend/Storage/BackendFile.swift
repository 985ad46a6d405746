// SPDX-License-Identifier: Apache-2.0
import FirestoreSQLite
import Synchronization

/// The backend's database file, or its equal in memory.
///
/// ```
/// databases ─┬─< collections ─< documents
///            ├─< changes          what happened at which version, back to databases.pruned
///            ├─< history          what documents held before they changed, for reads in the past
///            └─< applied_requests answers kept for clients that never saw them
/// ```
/// Every page ends with a checksum (`PageChecksums`), so that a read gives the bytes that were written, or an error.
struct BackendFile: ~Copyable {
  private let connection: Connection
  /// The locked directory; `nil` for a backend in memory.
  private let directory: StoreDirectory?
  private let files: DatabaseFiles?
  private let report: @Sendable (String) -> Void
  /// The watch on the files, which notices if they are moved or deleted; `nil` for a backend in memory and for a private
  /// copy.
  let openFiles: OpenFiles?
  /// The damage that was met first.
  private let damage = Mutex<StoreError?>(nil)
  /// The state of the disk: whether it made the last transaction fail.
  private let isFailing = Mutex(false)

  /// - Throws: `corrupt` for data that differs from the data written; the files then stay as they are.
  init(_ configuration: BackendConfiguration) throws(StoreError) {
    report = configuration.report
    guard case .directory(let path) = configuration.location else {
      connection = try Self.open(location: nil, configuration.durability)
      directory = nil
      files = nil
      openFiles = nil
      return
    }
    let held = try Self.hold(path, isServed: configuration.isServed, report)
    do throws(StoreError) {
      let opened = try Self.open(held, configuration.durability)
      try Self.observeCrashes(opened, held.files, configuration.durability, report)
      connection = opened
    } catch {
      throw error.kind == .corrupt ? Self.naming(error, held.files) : error
    }
    files = held.files
    openFiles =
      configuration.isPrivateCopy
      ? nil
      : OpenFiles(
        held.files,
        consequence: "nothing is written any more, and what was written is gone when this process ends. Save what can "
          + "still be read from it, end it, and put the data back.")
    openFiles?.watch { [report] loss in report(loss.message) }
    directory = consume held
  }

  deinit {
    var isInPlace = true
    if let openFiles {
      do throws(StoreError) { try openFiles.check(at: .max) } catch { isInPlace = false }
      openFiles.end()
    }
    connection.close()
    // Another backend may have the path by now, and a mark of its own.
    if isInPlace, let files { OpenMark(files).remove() }
  }

  static let name = "backend.sqlite3"

  /// Locks a directory of backend data, which holds this file, its socket and a folder of caches.
  static func hold(
    _ path: String, isServed: Bool = false, _ report: @escaping @Sendable (String) -> Void = { _ in }
  ) throws(StoreError) -> StoreDirectory {
    try StoreDirectory(
      path, called: "data directory", database: name, others: ["cache", LocalBackend.socketName],
      use: isServed ? .served : .alone, report: report)
  }

  /// Runs `body` on the connection.
  borrowing func access<Result>(_ body: (Connection) throws(StoreError) -> Result) throws(StoreError) -> Result {
    do throws(StoreError) { return try body(connection) } catch { throw noting(error) }
  }

  /// Runs `body` as one transaction.
  /// - Throws: `corrupt` at once after damage was met, since a change could build upon it; `gone` when the files were
  ///   taken away, which is noticed within a second.
  borrowing func transaction<Result>(
    _ body: (Connection) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    if let damage = damage.withLock({ $0 }) { throw damage }
    try openFiles?.check()
    let result: Result
    do throws(StoreError) {
      result = try access { connection throws(StoreError) in
        try connection.transaction { () throws(StoreError) in try body(connection) }
      }
    } catch {
      noteDisk(error)
      throw error
    }
    noteDisk(nil)
    // A change in a file that was taken away is not stored.
    try openFiles?.check()
    return result
  }

  /// Reports the first of several transactions that fail because of the disk, and the first that succeeds again.
  private borrowing func noteDisk(_ error: StoreError?) {
    guard files != nil else { return }
    switch error?.kind {
    case nil:
      if isFailing.withLock({ exchange(&$0, with: false) }) { report("Commits are stored again.") }
    case .diskFull, .uncertain, .sqlite:
      if let error, !isFailing.withLock({ exchange(&$0, with: true) }) {
        report("Commits fail. \(error.message)")
      }
    default: break
    }
  }

  /// Remembers damage, also for the next start, and reports it once.
  private borrowing func noting(_ error: StoreError) -> StoreError {
    guard error.kind == .corrupt, let files else { return error }
    let named = Self.naming(error, files)
    let isNews = damage.withLock { first in
      defer { first = first ?? named }
      return first == nil
    }
    if isNews {
      files.markDamaged()
      report(named.message)
    }
    return named
  }

  private static func naming(_ error: StoreError, _ files: DatabaseFiles) -> StoreError {
    if error.message.contains(repairHint) { return error }
    let directory = files.path.dropLast(name.count + 1)
    return StoreError(
      .corrupt,
      "\(files.path) is damaged and nothing is written to it: \(error.message) "
        + "'\(repairHint) --data \(directory)' keeps the damaged file and saves what can be read.")
  }

  private static let repairHint = "hearth repair"
}

/// Sets a value and returns the one before.
private func exchange(_ value: inout Bool, with new: Bool) -> Bool {
  defer { value = new }
  return value
}
