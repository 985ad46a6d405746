// SPDX-License-Identifier: Apache-2.0

/// The parts of a cache besides its documents: its indexes, and the tables of its database.
package struct CacheContents: Codable, Sendable {
  /// A local index.
  package struct Index: Codable, Hashable, Sendable {
    package var state: IndexState
    package var entries: Int
    /// The size of the entries: the indexed values, and the numbers beside them.
    package var bytes: Int64

    package init(_ state: IndexState, entries: Int, bytes: Int64) {
      self.state = state
      self.entries = entries
      self.bytes = bytes
    }
  }

  /// A table of the database.
  package struct Table: Codable, Hashable, Sendable {
    package var name: String
    package var rows: Int
    /// The size of what the rows hold, without what SQLite adds; `nil` where it was not measured.
    package var bytes: Int64?

    package init(_ name: String, rows: Int, bytes: Int64? = nil) {
      self.name = name
      self.rows = rows
      self.bytes = bytes
    }
  }

  /// The checksums of the database's pages, which are compared whenever a page is read.
  package enum Checksums: String, Codable, Hashable, Sendable {
    /// Every page has one, and each that was read was as it was written.
    case intact
    /// Damage was met; the next start looks through the whole file.
    case damaged
    /// The database is in memory.
    case unneeded
  }

  /// The indexes in the order in which they were made.
  package var indexes: [Index]
  /// The number of entries of dropped indexes that are still to be removed.
  package var droppedEntries: Int
  /// The tables that have rows, the one with most bytes first.
  package var tables: [Table]
  package var pageCount: Int
  /// The size of a page.
  package var pageBytes: Int64
  /// The size of the log of changes that are not in the database file yet.
  package var logBytes: Int64
  package var checksums: Checksums

  package init(
    indexes: [Index] = [], droppedEntries: Int = 0, tables: [Table] = [], pageCount: Int = 0, pageBytes: Int64 = 0,
    logBytes: Int64 = 0, checksums: Checksums = .unneeded
  ) {
    self.indexes = indexes
    self.droppedEntries = droppedEntries
    self.tables = tables.sorted { ($0.bytes ?? 0, Int64($0.rows), $1.name) > ($1.bytes ?? 0, Int64($1.rows), $0.name) }
    self.pageCount = pageCount
    self.pageBytes = pageBytes
    self.logBytes = logBytes
    self.checksums = checksums
  }
}
