// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreSQLite

extension LocalStore {
  /// Replaces the configured indexes. Indexes that stay keep their entries, automatic ones are not touched; a new one
  /// is maintained from now on and used when the documents that were there before have their entries
  /// (`backfillIndexes`).
  package mutating func setIndexes(_ definitions: [FieldIndex]) throws(StoreError) {
    let database = database
    try database.transaction { () throws(StoreError) in
      let indexes = database.indexes
      for index in try indexes.indexes where index.origin == .configured {
        if !definitions.contains(where: index.definition.isEquivalent(to:)) { try indexes.set(.dropped, of: index) }
      }
      for definition in definitions {
        if let known = try indexes.indexes.first(where: { $0.definition.isEquivalent(to: definition) }) {
          if known.origin != .configured { try indexes.set(.configured, of: known) }
        } else {
          try indexes.add(definition, .configured)
        }
      }
    }
  }

  /// Drops all indexes, configured or automatic (SDK: deleteAllFieldIndexes).
  package mutating func deleteAllIndexes() throws(StoreError) {
    let database = database
    try database.transaction { () throws(StoreError) in
      for index in try database.indexes.indexes { try database.indexes.set(.dropped, of: index) }
    }
  }

  /// The indexes in the order in which they were made.
  package func indexes() throws(StoreError) -> [IndexState] {
    try database.read { () throws(StoreError) in
      var states: [IndexState] = []
      let backfill = IndexBackfill(database: database)
      for index in try database.indexes.indexes {
        let progress = index.isReady ? nil : try backfill.progress(of: index)
        states.append(
          IndexState(definition: index.definition, isAutomatic: index.origin == .automatic, backfill: progress))
      }
      return states
    }
  }

  /// The number of cached documents that each index knows, and the number there is for it, in the order of `indexes`.
  /// Looks at each collection of their groups.
  package func indexProgress() throws(StoreError) -> [IndexProgress] {
    try database.read { () throws(StoreError) in
      var progress: [IndexProgress] = []
      let backfill = IndexBackfill(database: database)
      for index in try database.indexes.indexes { progress.append(try backfill.progress(of: index)) }
      return progress
    }
  }

  /// Whether `backfillIndexes` has anything to do.
  package var needsIndexBackfill: Bool {
    get throws(StoreError) {
      // The primary does it for all clients that share the cache.
      guard isPrimary else { return false }
      return try IndexBackfill(database: database).isNeeded
    }
  }

  /// Does one slice of the work that changed definitions left behind: some milliseconds of work, in one transaction.
  /// Writing a long log back is a slice by itself, so that no commit has to do it.
  /// - Returns: whether there is more to do.
  package mutating func backfillIndexes() throws(StoreError) -> Bool {
    let backfill = IndexBackfill(database: database)
    guard try backfill.isNeeded else { return false }
    let database = database
    var pacer = backfillPacer
    pacer.begin(isWriting: true)
    let logBytes = database.logByteSize
    if backfillLog.isDue(at: logBytes) {
      try database.perform { () throws(StoreError) in try database.writeLogBack() }
      backfillLog.wroteBack(logBytes, in: pacer.elapsed)
      return true
    }
    try database.transaction { () throws(StoreError) in try backfill.performSlice(&pacer) }
    pacer.end()
    backfillPacer = pacer
    return try backfill.isNeeded
  }
}
