// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreSQLite

/// The state of one database apart from its documents.
struct DatabaseState: Sendable {
  let id: Int64
  /// The last version of a commit or a read, in microseconds. When the data is opened, this is set to at least the
  /// clock's time. If the data has lost versions that clients saw, the clients therefore still accept new reads.
  var version: Int64
  /// The version of the last commit, as stored in the file.
  var committed: Int64
  /// The version when this process opened the database.
  let opened: Int64
  var openings: Openings
  /// The last version whose changes are no longer recorded.
  var pruned: Int64
  /// The oldest version available to reads in the past.
  var historyStart: Int64
  /// The number of recorded changes.
  var changes: Int
  /// The latest server timestamp that a commit has used, or a later time, in microseconds.
  var lastServerTime: Int64

  static func load(
    _ database: DatabaseID, creatingAt time: Int64, _ connection: Connection
  ) throws(StoreError) -> DatabaseState {
    let name = Array(database.name.utf8)
    try connection.run(
      // A database is empty at every time before its first commit.
      "INSERT INTO databases (name, version, pruned, history_start) VALUES (?1, ?2, ?2, 0) ON CONFLICT DO NOTHING",
      name, time)
    let isNew = connection.rowsChangedLast == 1
    // A commit with recorded changes stores no other record of its version.
    let state = try connection.first(
      """
      SELECT id, max(version, coalesce((SELECT max(version) FROM changes WHERE database = databases.id), 0)), pruned,
        history_start FROM databases WHERE name = ?
      """, name
    ) { row throws(StoreError) in
      let committed = row.integer(1)
      return DatabaseState(
        id: row.integer(0), version: max(committed, time), committed: committed, opened: max(committed, time),
        openings: try Openings(database: row.integer(0), connection), pruned: row.integer(2),
        historyStart: row.integer(3), changes: 0, lastServerTime: isNew ? .min : committed)
    }
    guard var state else { throw StoreError(.sqlite, "A database that was just created is missing.") }
    state.changes = Int(try connection.integer("SELECT count(*) FROM changes WHERE database = ?", state.id) ?? 0)
    if state.openings.isEmpty { try state.openings.begin(at: state.committed, database: state.id, connection) }
    return state
  }

  /// Records a commit, and the opening of the data if this is its first commit.
  mutating func commit(at version: Int64, _ connection: Connection) throws(StoreError) {
    if !openings.isCurrent { try openings.begin(at: committed, database: id, connection) }
    self.version = version
    committed = version
  }

  func store(_ connection: Connection) throws(StoreError) {
    try connection.run(
      "UPDATE databases SET version = ?, pruned = ?, history_start = ? WHERE id = ?",
      version, pruned, historyStart, id)
  }

  /// Deletes the oldest recorded changes when their number exceeds `kept` by a margin. The changes of one version are
  /// deleted together.
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

  /// Stores and returns the state after many documents have changed without individual change records.
  func withoutHistory(at version: Int64, _ connection: Connection) throws(StoreError) -> DatabaseState {
    try connection.run("DELETE FROM changes WHERE database = ?", id)
    try connection.run(
      "DELETE FROM history WHERE collection IN (SELECT id FROM collections WHERE database = ?)", id)
    var state = self
    try state.commit(at: version, connection)
    state.pruned = version
    state.historyStart = version
    state.changes = 0
    try state.store(connection)
    return state
  }
}

/// The value of all server timestamps (REQUEST_TIME) of a commit.
///
/// The values strictly increase from commit to commit in a database, across restarts, and are never after the commit
/// time, which is the version and update time of the written documents. As at the real backend, the value is the commit
/// time truncated to milliseconds. If that value was used before, because several commits fell into one millisecond,
/// the full commit time is used instead, to the microsecond. So the timestamps of many quick commits do not run ahead
/// of the clock.
enum ServerTimestamp {
  /// - Parameters:
  ///   - version: the version of the commit, in microseconds.
  ///   - last: the last server timestamp that a commit has used, or a later time before the version.
  static func of(_ version: Int64, after last: Int64) -> Timestamp {
    let time = Timestamp(microseconds: version)
    let cut = Timestamp(seconds: time.seconds, nanoseconds: time.nanoseconds / 1_000_000 * 1_000_000)
    return cut.microseconds > last ? cut : time
  }
}

/// The openings of the data in which a database was changed, each with a random number.
///
/// A version alone does not prove that a client saw the file's history. A file that was restored from a copy, or that
/// lost its last commits, continues from an earlier version and reaches the client's version again with different
/// contents. So a client's position names the opening in which its version was committed:
///
/// ```
/// the file        ── A ── 10 ── 20 ─┬─ B ── 30 ── 40          a client that saw B40 resumes at B40
/// its copy, later                   └─ C ── 50                B is unknown here, and so is A30: the client is reset
/// ```
/// An opening begins with its first commit, in the same transaction. Before that, positions name the previous opening.
struct Openings: Sendable {
  private struct Opening {
    let number: Int64
    /// The version of the last commit before the opening.
    let start: Int64
  }

  /// The number of openings to store. The positions of clients from older openings are unknown.
  private static let kept = 200

  private var known: [Opening] = []
  /// Whether the last recorded opening of the data is this process's.
  private(set) var isCurrent = false

  static let schema = """
    CREATE TABLE openings (
      id INTEGER PRIMARY KEY, database INTEGER NOT NULL, number INTEGER NOT NULL, start INTEGER NOT NULL
    );
    """

  init(database: Int64, _ connection: Connection) throws(StoreError) {
    known = try connection.all("SELECT number, start FROM openings WHERE database = ? ORDER BY id", database) {
      Opening(number: $0.integer(0), start: $0.integer(1))
    }
  }

  var isEmpty: Bool { known.isEmpty }

  /// The number of the opening of the data in which the last commit happened.
  var last: Int64 { known.last?.number ?? 0 }

  /// The last version that was committed in an opening of the data; `nil` if the file's history does not contain the
  /// opening.
  /// - Parameter committed: the version of the last commit.
  func end(of number: Int64, committed: Int64) -> Int64? {
    guard let index = known.lastIndex(where: { $0.number == number }) else { return nil }
    return index + 1 < known.count ? known[index + 1].start : committed
  }

  /// Whether a version that was returned as a read time is in the file's history.
  func contains(_ version: Int64, committed: Int64) -> Bool {
    guard let index = known.lastIndex(where: { $0.start < version }) else { return known.first?.start == version }
    return version <= (index + 1 < known.count ? known[index + 1].start : committed)
  }

  /// Chooses and stores the random number that identifies this process's opening of the data.
  /// - Parameter start: the version of the previous commit.
  mutating func begin(at start: Int64, database: Int64, _ connection: Connection) throws(StoreError) {
    let number = try connection.integer("SELECT random()") ?? 0
    try connection.run("INSERT INTO openings (database, number, start) VALUES (?, ?, ?)", database, number, start)
    known.append(Opening(number: number, start: start))
    isCurrent = true
    guard known.count > Self.kept else { return }
    known.removeFirst()
    try connection.run(
      "DELETE FROM openings WHERE id = (SELECT min(id) FROM openings WHERE database = ?)", database)
  }
}
