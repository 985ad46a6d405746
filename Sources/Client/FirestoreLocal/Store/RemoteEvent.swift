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
  package var position: Position
  /// Whether the backend reset a target since the last event: it may have lost versions that the client has seen.
  package var hasReset = false

  /// The stream's position for the targets that follow it: those of earlier events of the stream that have a token, and
  /// are not named now.
  package struct Position: Sendable {
    /// The token at the event's version; `nil` if they stay where they are.
    package var token: ResumeToken?
    /// Targets that had ceased to follow the stream before this event: they stay where they were.
    package var left: Set<TargetID> = []
    /// Whether the event is the first of its stream, which no target follows yet.
    package var isFirst = false

    package init(token: ResumeToken? = nil, isFirst: Bool = false) {
      self.token = token
      self.isFirst = isFirst
    }
  }

  package init(
    version: SnapshotVersion?, targetChanges: [TargetID: TargetChange] = [:],
    targetMismatches: [TargetID: TargetPurpose] = [:], documents: [DocumentKey: Document] = [:],
    resolvedLimboDocuments: Set<DocumentKey> = [], filteredTargets: Set<TargetID> = [], position: Position = Position()
  ) {
    self.version = version
    self.targetChanges = targetChanges
    self.targetMismatches = targetMismatches
    self.documents = documents
    self.resolvedLimboDocuments = resolvedLimboDocuments
    self.filteredTargets = filteredTargets
    self.position = position
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
  /// A document goes back in version only if the backend lost the newer version (`RemoteEventApplication`). A token is stored when documents changed, when there is none yet, or when
  /// the stored one is five minutes older (SPEC-FORMAT §14.22); `activeTarget` has the newest in any case.
  /// - Returns: the local views of the documents that changed.
  package mutating func apply(_ event: RemoteEvent) throws(StoreError) -> [DocumentKey: Document] {
    try check(.applyRemoteEvent)
    let (changes, targets) = try stored(event)
    activeTargets.apply(targets)
    references.collected()
    return changes
  }

  /// - Returns: the changed documents, and what becomes of the active targets.
  private func stored(
    _ event: RemoteEvent
  ) throws(StoreError) -> (changes: [DocumentKey: Document], targets: ActiveTargets.Change) {
    let database = database
    var application = RemoteEventApplication(event, localDocuments, activeTargets, eagerGarbageCollector)
    let changes = try database.transaction { () throws(StoreError) in
      try database.sharing?.requireLease()
      let changes = try application.perform()
      if !changes.isEmpty { try database.sharing?.tell(.documents(changes.keys)) }
      return changes
    }
    return (changes, application.targetChange)
  }
}
