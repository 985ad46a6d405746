// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreProtocol
package import FirestoreSQLite

/// Everything that changed between two consistent snapshots of the watch stream, for all targets.
package struct RemoteEvent: Sendable {
  package var version: SnapshotVersion?
  package var targetChanges: [TargetID: TargetChange]
  /// Targets whose documents do not add up: to be sent again without a token, for the given purpose.
  package var targetMismatches: [TargetID: TargetPurpose]
  /// `found` or `missing`, as the backend said.
  package var documents: [DocumentKey: Document]
  /// Documents that limbo resolutions resolved.
  package var resolvedLimboDocuments: Set<DocumentKey>
  /// Targets whose existence filter did not fit, whether or not a bloom filter explained it.
  package var filteredTargets: Set<TargetID>

  package init(
    version: SnapshotVersion?, targetChanges: [TargetID: TargetChange] = [:],
    targetMismatches: [TargetID: TargetPurpose] = [:], documents: [DocumentKey: Document] = [:],
    resolvedLimboDocuments: Set<DocumentKey> = [], filteredTargets: Set<TargetID> = []
  ) {
    self.version = version
    self.targetChanges = targetChanges
    self.targetMismatches = targetMismatches
    self.documents = documents
    self.resolvedLimboDocuments = resolvedLimboDocuments
    self.filteredTargets = filteredTargets
  }
}

/// The change of one target in a remote event.
package struct TargetChange: Sendable {
  package var resumeToken: ResumeToken?
  /// Whether the target was up to date with the backend at the event's version.
  package var isCurrent: Bool
  package var added: Set<DocumentKey>
  package var modified: Set<DocumentKey>
  package var removed: Set<DocumentKey>

  package init(
    resumeToken: ResumeToken? = nil, isCurrent: Bool = false, added: Set<DocumentKey> = [],
    modified: Set<DocumentKey> = [], removed: Set<DocumentKey> = []
  ) {
    self.resumeToken = resumeToken
    self.isCurrent = isCurrent
    self.added = added
    self.modified = modified
    self.removed = removed
  }
}

extension LocalStore {
  /// The version of the last remote event; never goes back.
  package func lastRemoteSnapshotVersion() throws(StoreError) -> SnapshotVersion? {
    try check(.getLastRemoteSnapshotVersion)
    return try database.read { () throws(StoreError) in
      try database.globals.value(.lastRemoteSnapshotVersion).map(SnapshotVersion.init(microseconds:))
    }
  }

  /// Stores documents, target membership and resume tokens in one transaction (S6).
  ///
  /// A document never goes back in version. A token is stored when documents changed, when there is none yet, or when
  /// the stored one is five minutes older (SPEC-FORMAT §14.22); `activeTarget` has the newest in any case.
  /// - Returns: the local views of the documents that changed.
  package mutating func apply(_ event: RemoteEvent) throws(StoreError) -> [DocumentKey: Document] {
    try check(.applyRemoteEvent)
    let database = database
    var application = RemoteEventApplication(event, localDocuments, activeTargets, eagerGarbageCollector)
    let changes = try database.transaction { () throws(StoreError) in
      try database.sharing?.requireLease()
      let changes = try application.perform()
      if !changes.isEmpty { try database.sharing?.tell(.documents(changes.keys)) }
      return changes
    }
    activeTargets = application.targets
    references.collected()
    return changes
  }
}
