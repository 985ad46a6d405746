// SPDX-License-Identifier: Apache-2.0

extension LocalStore {
  /// Removes what was used least recently if the cache is at least `thresholdBytes` large; then gives the space back
  /// if a quarter of the file is free.
  ///
  /// Nothing that an active target, a view, a look-up or anyone's pending write refers to is removed. Does nothing
  /// unless the policy is `leastRecentlyUsed`.
  /// - Parameters:
  ///   - percentile: how many of a hundred sequence numbers to collect (SDK: 10).
  ///   - maximumSequenceNumbers: the most to collect in one run (SDK: 1000).
  package mutating func collectGarbage(
    thresholdBytes: Int64, percentile: Int, maximumSequenceNumbers: Int
  ) throws(LocalStoreError) -> CollectionResult {
    guard case .leastRecentlyUsed = policy, try byteSize() >= thresholdBytes else { return .skipped }
    let database = database
    let collector = LRUCollector(
      database: database, activeTargets: Set(activeTargets.keys), pins: pins, limboReferences: limboReferences)
    let result = try database.transaction { () throws(LocalStoreError) in
      try collector.collect(percentile: percentile, maximum: maximumSequenceNumbers)
    }
    try database.read { () throws(LocalStoreError) in
      let pages = try database.connection.integer("PRAGMA page_count")
      let free = try database.connection.integer("PRAGMA freelist_count")
      // Moving pages costs as much as removing documents, and what is free is used again: only much is given back.
      if free > pages / 4 { try database.connection.execute("PRAGMA incremental_vacuum") }
    }
    return result
  }

  /// How many bytes the cache's content occupies.
  package func byteSize() throws(LocalStoreError) -> Int64 {
    try database.read { () throws(LocalStoreError) in
      let pages = try database.connection.integer("PRAGMA page_count")
      let free = try database.connection.integer("PRAGMA freelist_count")
      return (pages - free) * (try database.connection.integer("PRAGMA page_size"))
    }
  }
}
