// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreSQLite

/// Writes one commit inside its transaction. Its state is valid only after the transaction has succeeded.
struct CommitWriter {
  let database: DatabaseID
  private(set) var state: DatabaseState
  let version: Int64
  private let collections: CollectionNumbers
  private var counts: [Int64: Int64] = [:]
  /// The number of earlier versions that this commit has added to the history.
  private(set) var historyRows = 0
  private(set) var historyBytes: Int64 = 0

  init(database: DatabaseID, state: DatabaseState, version: Int64, collections: CollectionNumbers) {
    self.database = database
    self.state = state
    self.version = version
    self.collections = collections
  }

  /// - Parameter check: rejects the commit by throwing.
  mutating func apply(
    _ mutations: [Mutation], check: CommitCheck? = nil, _ connection: Connection
  ) throws(StoreError) -> CommitOutcome {
    try WriteSequence.check(mutations)
    let commitTime = SnapshotVersion(microseconds: version)
    var evaluation = CommitEvaluation(
      database: database, commitTime: commitTime,
      serverTime: ServerTimestamp.of(version, after: state.lastServerTime), defersPreconditions: check != nil)
    for mutation in mutations {
      try evaluation.apply(mutation) { key throws(StoreError) in
        let name = CollectionName(database: state.id, path: key.collection)
        guard let collection = try collections.number(of: name, connection) else { return nil }
        return try DocumentReader.read(key, in: collection, connection)
      }
    }
    if let check {
      let reader = DocumentReader(
        connection: connection, database: database, state: state, known: collections, version: state.version)
      let preview = CommitPreview(evaluation, reader)
      do throws(RPCStatus) { try check(preview) } catch { throw .refused(error.code, error.message) }
      try evaluation.checkPreconditions()
    }
    let (results, changed) = try evaluation.finish()
    if evaluation.givesServerTime { state.lastServerTime = evaluation.serverTime.microseconds }
    var transitions: [DocumentTransition] = []
    transitions.reserveCapacity(changed.count)
    for change in changed { transitions.append(try store(change, connection)) }
    return CommitOutcome(
      response: CommitResponse(commitTime: commitTime, results: results), transitions: transitions)
  }

  /// Writes the counters, and prunes the recorded changes.
  /// - Returns: whether the database's state must be stored, because changes were not recorded or recorded changes were
  ///   pruned.
  mutating func finish(
    keeping keptChanges: Int, isRecorded: Bool, _ connection: Connection
  ) throws(StoreError) -> Bool {
    try writeCounts(connection)
    let pruned = state.pruned
    try state.commit(at: version, connection)
    try state.prune(keeping: keptChanges, connection)
    return !isRecorded || state.pruned != pruned
  }

  private mutating func store(
    _ change: CommitEvaluation.WorkingDocument.Change, _ connection: Connection
  ) throws(StoreError) -> DocumentTransition {
    let collection = try collection(of: change.key, connection)
    let name = DocumentName(change.key.documentID)
    if let before = change.before {
      try DocumentHistory(connection).record(before, in: collection, name, until: version)
      historyRows += 1
      historyBytes += DocumentHistory.cost(name, before.fields)
    }
    switch (change.before, change.after) {
    case (nil, let after?):
      try connection.run(
        "INSERT INTO documents (collection, name, version, created, fields) VALUES (?, ?, ?, ?, ?)",
        collection, name.bytes, after.version, after.created,
        after.fields.bytes)
      counts[collection, default: 0] += 1
    case (_?, let after?):
      try connection.run(
        "UPDATE documents SET version = ?, created = ?, fields = ? WHERE collection = ? AND name = ?",
        after.version, after.created, after.fields.bytes,
        collection, name.bytes)
    case (_?, nil):
      try connection.run(
        "DELETE FROM documents WHERE collection = ? AND name = ?", collection, name.bytes)
      counts[collection, default: 0] -= 1
    case (nil, nil): break
    }
    try connection.run(
      "INSERT INTO changes (database, version, collection, name, deleted) VALUES (?, ?, ?, ?, ?)",
      state.id, version, collection, name.bytes,
      change.after == nil ? 1 : 0)
    state.changes += 1
    let missing = Document(key: change.key, version: SnapshotVersion(microseconds: version), state: .missing)
    return DocumentTransition(
      key: change.key, position: DocumentPosition(collection: collection, name: name),
      before: change.before?.document, after: change.after?.document ?? missing)
  }

  /// The number of a document's collection, which is created if necessary.
  private func collection(of key: DocumentKey, _ connection: Connection) throws(StoreError) -> Int64 {
    let name = CollectionName(database: state.id, path: key.collection)
    if let known = try collections.number(of: name, connection) { return known }
    return try collections.make(name, connection)
  }

  private mutating func writeCounts(_ connection: Connection) throws(StoreError) {
    for (collection, count) in counts where count != 0 {
      try connection.run(
        "UPDATE collections SET count = count + ? WHERE id = ?", count, collection)
    }
    counts = [:]
  }
}

extension CommitWriter {
  /// Stores a document without evaluation, change record or limit checks. Only its name and values are checked.
  mutating func seed(_ key: DocumentKey, _ fields: Fields, _ connection: Connection) throws(StoreError) {
    try WriteValidation.check(Mutation(key: key, operation: .set(fields), precondition: .none))
    let collection = try collection(of: key, connection)
    let name = DocumentName(key.documentID).bytes
    let encoded = EncodedFields(fields.truncatingTimestamps).bytes
    try connection.run(
      """
      INSERT INTO documents (collection, name, version, created, fields) VALUES (?1, ?2, ?3, ?3, ?4)
      ON CONFLICT DO NOTHING
      """, collection, name, version, encoded)
    if connection.rowsChangedLast == 1 {
      counts[collection, default: 0] += 1
    } else {
      try connection.run(
        "UPDATE documents SET version = ?, fields = ? WHERE collection = ? AND name = ?",
        version, encoded, collection, name)
    }
  }

  mutating func finishSeeding(_ connection: Connection) throws(StoreError) {
    try writeCounts(connection)
    state = try state.withoutHistory(at: version, connection)
  }
}
