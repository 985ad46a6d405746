// SPDX-License-Identifier: Apache-2.0
import FirestoreSQLite

/// The directory of a durable cache with the files of its database, held exclusively until the value goes.
struct StoreDirectory: ~Copyable {
  private static let databaseName = "cache.sqlite3"

  let files: DatabaseFiles
  private let lock: DirectoryLock
  private let report: @Sendable (String) -> Void

  /// Absolute.
  var path: String { lock.directory }

  static func files(in path: String) -> DatabaseFiles { DatabaseFiles(path: path + "/" + databaseName) }

  /// Makes the directory if necessary, makes sure that it is private, and locks it.
  /// - Parameter report: told what was changed so that nobody else can read what is stored.
  /// - Throws: `locked`, `notWritable`, `notPrivate`.
  init(_ path: String, report: @escaping @Sendable (String) -> Void = { _ in }) throws(LocalStoreError) {
    do throws(StoreError) {
      lock = try DirectoryLock(directory: path, called: "cache directory", own: [Self.databaseName])
    } catch { throw LocalStoreError(error) }
    files = Self.files(in: lock.directory)
    self.report = report
    lock.notices.forEach(report)
  }

  /// Looks at the files before SQLite opens them.
  /// - Throws: `corrupt` where SQLite would silently go without what is stored; `notWritable`, `notPrivate`.
  borrowing func prepare() throws(LocalStoreError) {
    do throws(StoreError) { try files.prepare().forEach(report) } catch {
      guard error.kind == .corrupt, files.hasContents else { throw LocalStoreError(error) }
      throw LocalStoreError(
        .corrupt,
        "\(error.message) Alone in a directory of its own, as \(Self.databaseName), the database is the cache as it was "
          + "before what the log holds.")
    }
  }

  /// Renames the database with its log to `….corrupt-N`; nothing is deleted.
  /// - Returns: the new path of the database.
  borrowing func moveAside() throws(LocalStoreError) -> String {
    do throws(StoreError) { return try files.moveAside("corrupt") } catch { throw LocalStoreError(error) }
  }

  /// Deletes the database, so that a new one can be begun while the directory stays locked.
  /// - Precondition: it was closed.
  borrowing func removeDatabase() throws(LocalStoreError) {
    do throws(StoreError) { try files.remove() } catch { throw LocalStoreError(error) }
  }
}
