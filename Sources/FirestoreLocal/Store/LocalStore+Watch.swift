// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

extension LocalStore {
  /// The version of the last remote event; never goes back.
  package func lastRemoteSnapshotVersion() throws(LocalStoreError) -> SnapshotVersion? {
    try check(.getLastRemoteSnapshotVersion)
    return try database.read { () throws(LocalStoreError) in
      try database.globals.value(.lastRemoteSnapshotVersion).map(SnapshotVersion.init(microseconds:))
    }
  }

  /// Stores documents, target membership and resume tokens in one transaction (S6).
  ///
  /// A document never goes back in version. A token is stored when documents changed, when there is none yet, or when
  /// the stored one is five minutes older (SPEC-FORMAT §14.22); `activeTarget` has the newest in any case.
  /// - Returns: the local views of the documents that changed.
  package mutating func apply(_ event: RemoteEvent) throws(LocalStoreError) -> [DocumentKey: Document] {
    try check(.applyRemoteEvent)
    let database = database
    var application = RemoteEventApplication(event, localDocuments, activeTargets, eagerGarbageCollector)
    let changes = try database.transaction { () throws(LocalStoreError) in try application.perform() }
    activeTargets = application.targets
    unreferenced = []
    return changes
  }
}
