// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreSQLite

/// The authoritative documents of all databases and their changes, version by version.
///
/// Versions are commit times in microseconds. In each database every version is greater than all earlier ones, across
/// restarts and regardless of the clock. A read of the present has the clock's time, or the last version's time if the
/// clock is behind. A commit is always newer than any read time that was returned before it. A commit without changes
/// uses up a version too. While the clock is behind the last version, each new version is one microsecond after the
/// previous one.
struct CommitLog: ~Copyable {
  /// The number of changes that are recorded so that listeners can resume. A listener that resumes from an older
  /// position is reset and gets its whole result.
  static let keptChanges = 100_000
  /// The smallest number of changes to prune together, so that only a few commits have the cost of pruning.
  static let pruningSlack = 1_000

  /// The identity of the stored data, which distinguishes its tokens from other data sets' tokens.
  let instance: [UInt8]
  let file: BackendFile
  let configuration: BackendConfiguration
  let keptChanges: Int
  var databases: [DatabaseID: DatabaseState] = [:]
  let collections = CollectionNumbers()
  private let counts = CachedCounts()
  var history: HistorySize
  /// The most recently reported version that is ahead of the clock, by database number.
  private var toldVersions: [Int64: Int64] = [:]
  let requestLimits: AppliedRequests.Limits
  /// The number of requests answered since the last search for old responses. The first request after a start also
  /// causes a search.
  var unprunedRequests: Int

  init(
    _ configuration: BackendConfiguration, keptChanges: Int = CommitLog.keptChanges,
    requests: AppliedRequests.Limits = AppliedRequests.Limits()
  ) throws(StoreError) {
    let file = try BackendFile(configuration)
    instance = try file.access { connection throws(StoreError) in
      try connection.keepPages(upTo: configuration.pageCacheBytes)
      return try connection.first("SELECT instance FROM backend") { $0.blob(0) } ?? []
    }
    self.file = file
    self.configuration = configuration
    self.keptChanges = keptChanges
    history = HistorySize(limit: configuration.keptHistoryBytes)
    requestLimits = requests
    unprunedRequests = requests.slice
  }

  /// The state of a database, which is created on the first request for it.
  mutating func state(of database: DatabaseID) throws(StoreError) -> DatabaseState {
    if let state = databases[database] { return state }
    if let objection = configuration.objection(database) { throw .refused(objection.code, objection.message) }
    let time = clock.microseconds
    let state = try file.transaction { connection throws(StoreError) in
      try DatabaseState.load(database, creatingAt: time, connection)
    }
    databases[database] = state
    return state
  }

  /// The clock's time. Versions are based on it but never repeat.
  var clock: Timestamp { configuration.now() }

  /// The version of the next commit: the clock's time, or a microsecond after the last version if that is later.
  static func nextVersion(_ state: DatabaseState, at clock: Timestamp) throws(StoreError) -> Int64 {
    let version = max(state.version + 1, min(clock, .latest).microseconds)
    if version <= Timestamp.latest.microseconds { return version }
    throw StoreError(
      .sqlite, "The database's last commit has the latest possible time, so no commit can follow. \(wayOut)")
  }

  /// Reports a database whose last version is ahead of the clock. Repeats the report if that version moves further
  /// ahead.
  mutating func compareClock(_ state: DatabaseState) {
    guard state.version - clock.microseconds > Self.toldLag else {
      toldVersions[state.id] = nil
      return
    }
    // The report is repeated only after the versions have advanced by another `toldLag`.
    if let told = toldVersions[state.id], state.version - told < Self.toldLag { return }
    toldVersions[state.id] = state.version
    configuration.report(
      "The last commit or read is dated \(Timestamp(microseconds: state.version).rfc3339Text), ahead of this machine's clock. "
        + "Until the clock catches up, each commit is dated one microsecond later. \(Self.wayOut)")
  }

  private static let wayOut =
    "If the recorded time is wrong, export the data and import it into another directory."

  /// The lag of the clock, in microseconds, above which it is reported. Clock synchronization causes smaller lags.
  private static let toldLag: Int64 = 60_000_000

  /// The error for a read time that is too old. It states the oldest readable time and the reason for that limit.
  func tooOld(_ state: DatabaseState) -> StoreError {
    let hourAgo = clock.microseconds - DocumentHistory.kept
    let oldest = Timestamp(microseconds: min(max(hourAgo, state.historyStart), state.committed))
    let reason: String
    if state.historyStart <= max(hourAgo, 0) {
      reason = "earlier versions are kept for an hour."
    } else if state.historyStart == state.pruned {
      reason = "all documents were replaced or removed at that time."
    } else {
      let bytes = configuration.keptHistoryBytes
      let limit = bytes < 1 << 20 ? "\(bytes) bytes" : "\(bytes >> 20) MiB"
      reason = "at most \(limit) of earlier versions are kept."
    }
    return .refused(
      .failedPrecondition,
      "The requested 'read_time' is too old. The oldest readable time is \(oldest.rfc3339Text): \(reason)")
  }

  /// Ensures that every later commit gets a version after this version, because a read has used it.
  mutating func advance(_ database: DatabaseID, to version: Int64) throws(StoreError) {
    if try state(of: database).version < version { databases[database]?.version = version }
  }

  /// The version of a read of the present: the clock's time, or the last version used so far if that is later. Later
  /// commits get later versions.
  mutating func readVersion(of database: DatabaseID) throws(StoreError) -> Int64 {
    let version = max(try state(of: database).version, min(clock, .latest).microseconds)
    try advance(database, to: version)
    return version
  }

  /// Deletes one slice of the versions that are too old to read or that exceed the size limit.
  mutating func pruneHistory() throws(StoreError) {
    let cutoff = clock.microseconds - DocumentHistory.kept
    let account = history
    let pruned = try file.transaction { connection throws(StoreError) in
      let history = DocumentHistory(connection)
      let bytes: Int64
      if let known = account.bytes { bytes = known } else { bytes = try history.byteCount() }
      return try history.prune(before: cutoff, excess: account.excess(of: bytes), rows: account.slice, of: bytes)
    }
    history.setBytes(pruned.bytesLeft)
    for (name, state) in databases {
      if let start = pruned.starts[state.id] { databases[name]?.historyStart = max(state.historyStart, start) }
    }
  }

  /// The oldest version available to reads in the past; the present can always be read.
  mutating func historyStart(of database: DatabaseID) throws(StoreError) -> Int64 {
    let state = try state(of: database)
    return min(max(state.historyStart, clock.microseconds - DocumentHistory.kept), state.committed)
  }

  /// Reads at the last version used so far, or at an earlier version.
  mutating func read<Result>(
    _ database: DatabaseID, at version: Int64? = nil, _ body: (DocumentReader) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    let state = try state(of: database)
    let version = version ?? state.version
    // A read in slices may be overtaken by pruning.
    if version < state.committed, version < state.historyStart { throw tooOld(state) }
    let (known, counts) = (collections, counts)
    return try file.access { connection throws(StoreError) in
      try body(
        DocumentReader(
          connection: connection, database: database, state: state, known: known, version: version, counts: counts))
    }
  }
}

extension CommitLog {
  /// Stores whole documents in large transactions, replacing existing ones; for demos, tests and imports. Changes are
  /// not recorded individually, so every resume position that was sent before is too old afterwards.
  mutating func seed(
    _ documents: some Sequence<(key: DocumentKey, fields: Fields)>, in database: DatabaseID
  ) throws(StoreError) -> DatabaseState {
    var state = try state(of: database)
    let known = collections
    // A rolled-back transaction may have created some of the collections.
    known.forget()
    defer { known.forget() }
    try file.access { connection throws(StoreError) in
      // Random keys touch the whole index, so a larger page cache pays off while documents are stored.
      try file.openFiles?.check()
      try connection.keepPages(upTo: 64 << 20)
      let usual = configuration.pageCacheBytes
      defer {
        // A failure leaves the cache larger than necessary, nothing else.
        try? connection.keepPages(upTo: usual)
        try? connection.execute("PRAGMA shrink_memory")
      }
      var iterator = documents.makeIterator()
      var next = iterator.next()
      while next != nil {
        let version = try Self.nextVersion(state, at: clock)
        var writer = CommitWriter(database: database, state: state, version: version, collections: known)
        try connection.transaction { () throws(StoreError) in
          var count = 0
          while let document = next, count < 50_000 {
            try writer.seed(document.key, document.fields, connection)
            next = iterator.next()
            count += 1
          }
          try writer.finishSeeding(connection)
        }
        state = writer.state
      }
    }
    databases[database] = state
    history.forget()
    return state
  }

  /// The names `projects/P/databases/D` of all databases used so far.
  func databaseNames() throws(StoreError) -> [String] {
    try file.access { connection throws(StoreError) in
      var names: [String] = []
      try connection.scan("SELECT name FROM databases ORDER BY name") { row in
        names.append(row.text(0))
        return true
      }
      return names
    }
  }

  /// The names of the databases that have documents.
  func occupiedDatabaseNames() throws(StoreError) -> [String] {
    try file.access { connection throws(StoreError) in
      var names: [String] = []
      try connection.scan(
        """
        SELECT name FROM databases
        WHERE EXISTS (SELECT 1 FROM collections WHERE database = databases.id AND count > 0) ORDER BY name
        """
      ) { row in
        names.append(row.text(0))
        return true
      }
      return names
    }
  }

  /// Removes every document of a database as one commit.
  /// - Returns: the version of that commit.
  mutating func deleteAllDocuments(in database: DatabaseID) throws(StoreError) -> Int64 {
    let state = try state(of: database)
    let version = try Self.nextVersion(state, at: clock)
    let cleared = try file.transaction { connection throws(StoreError) in
      try connection.run(
        "DELETE FROM documents WHERE collection IN (SELECT id FROM collections WHERE database = ?)",
        state.id)
      try connection.run("UPDATE collections SET count = 0 WHERE database = ?", state.id)
      return try state.withoutHistory(at: version, connection)
    }
    databases[database] = cleared
    history.forget()
    return version
  }
}

/// The name of a collection of a database, as bytes.
struct CollectionName: Hashable {
  let database: Int64
  let path: ResourcePath
}

/// The numbers of collections that were looked up or created; a collection's number never changes. Shared by all
/// readers and writers of one file.
final class CollectionNumbers {
  /// The number of cached collections beyond which the cache is cleared.
  private static let most = 4_096

  private var numbers: [CollectionName: Int64] = [:]

  /// The number of a collection; `nil` if it was never created.
  func number(of name: CollectionName, _ connection: Connection) throws(StoreError) -> Int64? {
    if let known = numbers[name] { return known }
    let number = try connection.integer(
      "SELECT id FROM collections WHERE database = ? AND path = ?", name.database, Array(name.path.text.utf8))
    if let number { remember(number, for: name) }
    return number
  }

  func make(_ name: CollectionName, _ connection: Connection) throws(StoreError) -> Int64 {
    let number = try connection.integer(
      "INSERT INTO collections (database, path, name) VALUES (?, ?, ?) RETURNING id", name.database,
      Array(name.path.text.utf8), Array(name.path.last.utf8))
    guard let number else { throw StoreError(.sqlite, "A collection could not be created.") }
    remember(number, for: name)
    return number
  }

  private func remember(_ number: Int64, for name: CollectionName) {
    if numbers.count >= Self.most { numbers = [:] }
    numbers[name] = number
  }

  /// Clears the cache, because a rolled-back transaction may have created some of the collections.
  func forget() { numbers = [:] }
}
