// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreSQLite

/// What is remembered about one database besides its documents.
struct DatabaseState: Sendable {
  let id: Int64
  /// The last version handed out, in microseconds; also the time at which reads happen.
  var version: Int64
  /// Changes up to this version are no longer on record.
  var pruned: Int64
  /// Reads in the past reach no further back than this version.
  var historyStart: Int64
  /// How many changes are on record.
  var changes: Int
  /// No server timestamp that was given is later, in microseconds.
  var lastServerTime: Int64

  static func load(
    _ database: DatabaseID, creatingAt time: Int64, _ connection: Connection
  ) throws(StoreError) -> DatabaseState {
    let name = Array(database.name.utf8)
    try connection.run(
      // Before the first commit there was nothing, which is known as far back as one likes.
      "INSERT INTO databases (name, version, pruned, history_start) VALUES (?1, ?2, ?2, 0) ON CONFLICT DO NOTHING",
      name, time)
    let isNew = connection.rowsChangedLast == 1
    let state = try connection.first(
      "SELECT id, version, pruned, history_start FROM databases WHERE name = ?", name
    ) { row in
      DatabaseState(
        id: row.integer(0), version: row.integer(1), pruned: row.integer(2), historyStart: row.integer(3), changes: 0,
        lastServerTime: isNew ? .min : row.integer(1))
    }
    guard var state else { throw StoreError(.sqlite, "A database that was just made is gone.") }
    state.changes = Int(try connection.integer("SELECT count(*) FROM changes WHERE database = ?", state.id) ?? 0)
    return state
  }

  func store(_ connection: Connection) throws(StoreError) {
    try connection.run(
      "UPDATE databases SET version = ?, pruned = ?, history_start = ? WHERE id = ?",
      version, pruned, historyStart, id)
  }

  /// Forgets the oldest changes when there are more than `kept` and some; whole versions only.
  mutating func prune(keeping kept: Int, _ connection: Connection) throws(StoreError) {
    let excess = changes - kept
    guard excess > min(CommitLog.pruningSlack, kept) else { return }
    let cutoff = try connection.integer(
      "SELECT version FROM changes WHERE database = ? ORDER BY version LIMIT 1 OFFSET ?", id, excess - 1)
    guard let cutoff else { return }
    try connection.run("DELETE FROM changes WHERE database = ? AND version <= ?", id, cutoff)
    pruned = cutoff
    changes = Int(try connection.integer("SELECT count(*) FROM changes WHERE database = ?", id) ?? 0)
  }

  /// The state after a change that is not recorded document by document; stored as well.
  func withoutHistory(at version: Int64, _ connection: Connection) throws(StoreError) -> DatabaseState {
    try connection.run("DELETE FROM changes WHERE database = ?", id)
    try connection.run(
      "DELETE FROM history WHERE collection IN (SELECT id FROM collections WHERE database = ?)", id)
    let state = DatabaseState(
      id: id, version: version, pruned: version, historyStart: version, changes: 0, lastServerTime: lastServerTime)
    try state.store(connection)
    return state
  }
}

/// What a commit's server timestamps (REQUEST_TIME) become, all of them the same.
///
/// They are strictly increasing over a database's commits, across restarts, and never after the commit's own time,
/// which is the version and update time of what it wrote. As at the real backend it is the commit's time cut to
/// milliseconds. Where that was given before, because several commits fell into one millisecond, it is the commit's
/// time itself, to the microsecond; so a burst of commits does not run away from the clock.
enum ServerTimestamp {
  /// - Parameters:
  ///   - version: of the commit, in microseconds.
  ///   - last: the last server timestamp that was given, or something between it and the version.
  static func of(_ version: Int64, after last: Int64) -> Timestamp {
    let time = Timestamp(microseconds: version)
    let cut = Timestamp(seconds: time.seconds, nanoseconds: time.nanoseconds / 1_000_000 * 1_000_000)
    return cut.microseconds > last ? cut : time
  }
}
