// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreSQLite

/// The authoritative documents of all databases and their changes, version by version.
///
/// Versions are commit times in microseconds. Per database each is greater than every one before, across restarts and
/// whatever the clock does. A read happens at the version of the last commit, so a commit is always newer than any read
/// time handed out. A commit that changes nothing consumes a version all the same. When the clock is behind the last
/// version, because it was wrong then or is now, versions follow each other by a microsecond until it has caught up.
struct CommitLog: ~Copyable {
  /// The number of changes kept for resuming watches; older positions get a reset and the full state.
  static let keptChanges = 100_000
  /// The smallest number of changes that pruning removes at once, so that its cost is spread.
  static let pruningSlack = 1_000

  /// The identity of the stored data; a token of another data set is recognised by it.
  let instance: [UInt8]
  let file: BackendFile
  let configuration: BackendConfiguration
  let keptChanges: Int
  var databases: [DatabaseID: DatabaseState] = [:]
  let collections = KnownCollections()
  private let counts = KnownCounts()
  var history: HistoryAccount
  /// The last versions that were reported as ahead of the clock, by the numbers of their databases.
  private var toldVersions: [Int64: Int64] = [:]
  let requestLimits: AppliedRequests.Limits
  /// The number of requests answered since the last search for old answers; the first request after a start searches.
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
    history = HistoryAccount(limit: configuration.keptHistoryBytes)
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

  /// The time at which a commit or a read happens now, apart from the rule that versions never repeat.
  var clock: Timestamp { configuration.now() }

  /// The version of the next commit: now, or a microsecond after the last.
  static func nextVersion(_ state: DatabaseState, at clock: Timestamp) throws(StoreError) -> Int64 {
    let version = max(state.version + 1, min(clock, .latest).microseconds)
    if version <= Timestamp.latest.microseconds { return version }
    throw StoreError(
      .sqlite, "The database's last commit was at the end of time, so that no other can follow. \(wayOut)")
  }

  /// Reports that a database's last commit is dated in the future: once, and again when it is dated later still.
  mutating func compareClock(_ state: DatabaseState) {
    guard state.version - clock.microseconds > Self.toldLag else {
      toldVersions[state.id] = nil
      return
    }
    // The report is made once until the versions have moved on by a further `toldLag`.
    if let told = toldVersions[state.id], state.version - told < Self.toldLag { return }
    toldVersions[state.id] = state.version
    configuration.report(
      "The last commit is dated \(Timestamp(microseconds: state.version).rfc3339Text), which this machine's clock has "
        + "yet to reach: until then commits follow it by a microsecond each. \(Self.wayOut)")
  }

  private static let wayOut =
    "If that date was a mistake of the clock, export the data and import it into another directory."

  /// The lag of the clock, in microseconds, beyond which its synchronisation is not the cause.
  private static let toldLag: Int64 = 60_000_000

  /// The error for a time that can no longer be read: names the oldest readable time, and the reason for that limit.
  func tooOld(_ state: DatabaseState) -> StoreError {
    let hourAgo = clock.microseconds - DocumentHistory.kept
    let oldest = Timestamp(microseconds: min(max(hourAgo, state.historyStart), state.version))
    let reason: String
    if state.historyStart <= max(hourAgo, 0) {
      reason = "earlier versions are kept for an hour."
    } else if state.historyStart == state.pruned {
      reason = "all documents were replaced or removed at once then."
    } else {
      let bytes = configuration.keptHistoryBytes
      let limit = bytes < 1 << 20 ? "\(bytes) bytes" : "\(bytes >> 20) MiB"
      reason = "not more than \(limit) of earlier versions are kept."
    }
    return .refused(
      .failedPrecondition,
      "The requested 'read_time' is too old. The oldest that can be read is \(oldest.rfc3339Text): \(reason)")
  }

  /// Makes sure that no later commit gets a version up to this one, which a read has used.
  mutating func advance(_ database: DatabaseID, to version: Int64) throws(StoreError) {
    var state = try state(of: database)
    state.version = max(state.version, version)
    databases[database] = state
  }

  /// Deletes one slice of the versions that ended before reads may reach back, or that exceed the kept size.
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

  /// The oldest version that reads in the past can reach; the present can always be read.
  mutating func historyStart(of database: DatabaseID) throws(StoreError) -> Int64 {
    let state = try state(of: database)
    return min(max(state.historyStart, clock.microseconds - DocumentHistory.kept), state.version)
  }

  /// Reads at the version of the database's last commit, or at an earlier one.
  mutating func read<Result>(
    _ database: DatabaseID, at version: Int64? = nil, _ body: (DocumentReader) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    let state = try state(of: database)
    let past = version.flatMap { $0 < state.version ? $0 : nil }
    // A read in slices may come to versions that were pruned meanwhile.
    if let past, past < state.historyStart { throw tooOld(state) }
    let (known, counts) = (collections, counts)
    return try file.access { connection throws(StoreError) in
      try body(
        DocumentReader(
          connection: connection, database: database, state: state, known: known, past: past, counts: counts))
    }
  }
}

extension CommitLog {
  /// Stores whole documents in large transactions, replacing existing ones; for demos, tests and imports. Not recorded
  /// change by change: every position handed out before is too old afterwards.
  mutating func seed(
    _ documents: some Sequence<(key: DocumentKey, fields: Fields)>, in database: DatabaseID
  ) throws(StoreError) -> DatabaseState {
    var state = try state(of: database)
    let known = collections
    // A transaction that is rolled back may have made some.
    known.forget()
    defer { known.forget() }
    try file.access { connection throws(StoreError) in
      // Random keys touch the whole index: a larger page cache is worth its memory while it lasts.
      try file.openFiles?.check()
      try connection.keepPages(upTo: 64 << 20)
      let usual = configuration.pageCacheBytes
      defer {
        // The cache is memory only: a failure here costs nothing but pages kept.
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

  /// The names `projects/P/databases/D` of all databases that were named so far.
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

/// The numbers of collections that were looked up or made: a number stays its collection's for ever. Shared by all that
/// read and write one file.
final class KnownCollections {
  /// The number of remembered collections beyond which all are forgotten.
  private static let most = 4_096

  private var numbers: [CollectionName: Int64] = [:]

  /// The number of a collection; `nil` for one that was never made.
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
    guard let number else { throw StoreError(.sqlite, "A collection could not be made.") }
    remember(number, for: name)
    return number
  }

  private func remember(_ number: Int64, for name: CollectionName) {
    if numbers.count >= Self.most { numbers = [:] }
    numbers[name] = number
  }

  /// Forgets all, because a transaction that may have made some was rolled back.
  func forget() { numbers = [:] }
}
