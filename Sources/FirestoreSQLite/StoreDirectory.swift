// SPDX-License-Identifier: Apache-2.0

/// The directory of a store with the files of its database, held exclusively until the value goes.
package struct StoreDirectory: ~Copyable {
  package let files: DatabaseFiles
  private let lock: DirectoryLock
  private let report: @Sendable (String) -> Void

  /// Absolute.
  package var path: String { lock.directory }

  /// Makes the directory if necessary, makes sure that it is private, and locks it.
  /// - Parameters:
  ///   - name: what errors call the directory, such as "data directory".
  ///   - database: the name of the database in it.
  ///   - others: beginnings of the names of what else belongs there.
  ///   - report: told what was changed so that nobody else can read what is stored.
  /// - Throws: `locked`, `notWritable`, `notPrivate`.
  package init(
    _ path: String, called name: String, database: String, others: [String] = [],
    report: @escaping @Sendable (String) -> Void
  ) throws(StoreError) {
    lock = try DirectoryLock(directory: path, called: name, own: [database] + others)
    files = DatabaseFiles(path: lock.directory + "/" + database)
    self.report = report
    lock.notices.forEach(report)
  }

  /// Looks at the files before SQLite opens them.
  /// - Throws: `corrupt` where SQLite would silently go without what is stored; `notWritable`, `notPrivate`.
  package borrowing func prepare() throws(StoreError) { try files.prepare().forEach(report) }
}
