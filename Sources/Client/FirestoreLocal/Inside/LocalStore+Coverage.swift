// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
package import FirestoreSQLite

extension LocalStore {
  /// The results that the cache has whole, by collection: those that listeners left, and those of present ones. O(results).
  package func coverage() throws(StoreError) -> [ResourcePath: CacheSurvey.Coverage] {
    let (database, active) = (database, activeTargets)
    var times = try database.read { () throws(StoreError) in try database.targets.times() }
    // The stored time of a present listener's result may be some minutes older.
    for (id, target) in active.all {
      times[id] = nil
      if target.data.resumeToken != nil { times[id] = (target.data.target, target.data.snapshotVersion) }
    }
    var coverage: [ResourcePath: CacheSurvey.Coverage] = [:]
    for (target, version) in times.values {
      guard let time = version?.timestamp, !target.isDocumentTarget, target.collectionGroup == nil else { continue }
      var part = coverage[target.path] ?? CacheSurvey.Coverage()
      if target.isWholeCollection {
        part.wholeAsOf = max(part.wholeAsOf ?? time, time)
      } else {
        part.results += 1
        part.newestResult = max(part.newestResult ?? time, time)
      }
      coverage[target.path] = part
    }
    return coverage
  }
}

extension Target {
  /// Whether the target has every document of its collection.
  fileprivate var isWholeCollection: Bool {
    filters.isEmpty && limit == nil && start == nil && end == nil && orderBy.allSatisfy(\.path.isDocumentID)
  }
}

extension TargetCache {
  /// The targets that can be resumed, each with the server's time of its result.
  fileprivate func times() throws(StoreError) -> [TargetID: (Target, SnapshotVersion?)] {
    var times: [TargetID: (Target, SnapshotVersion?)] = [:]
    try connection.forEachRow(
      "SELECT id, target, snapshot_version FROM targets WHERE resume_token IS NOT NULL AND snapshot_version IS NOT NULL"
    ) { row throws(StoreError) in
      times[try Self.id(row.integer(0))] = (try Self.decode(row.blob(1)), try row.version(2))
    }
    return times
  }
}
