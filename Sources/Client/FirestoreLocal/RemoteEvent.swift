// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreProtocol
import FirestoreQuery
package import FirestoreSQLite

/// Everything that changed between two consistent snapshots of the watch stream, for all targets.
package struct RemoteEvent: Sendable {
  package var version: SnapshotVersion?
  package var targetChanges: [TargetID: TargetChange]
  /// Targets whose documents do not match the backend's. The client listens to each of them again without a resume
  /// token, for the given purpose.
  package var targetMismatches: [TargetID: TargetPurpose]
  /// The documents, existing or missing, as the backend reported them.
  package var documents: [DocumentKey: Document]
  package var resolvedLimboDocuments: Set<DocumentKey>
  /// Targets whose document count did not match the existence filter, even if a bloom filter explained the difference.
  package var filteredTargets: Set<TargetID>
  package var position: Position
  /// Whether the backend has reset a target since the last event. In this case, the backend may have lost document
  /// versions that the client has seen.
  package var hasReset = false

  /// The stream's new position, which applies to the targets that follow the stream. These targets have a resume token,
  /// were part of an earlier event on the same stream, and are not part of this event.
  package struct Position: Sendable {
    /// The resume token for the event's version; `nil` if the position does not change.
    package var token: ResumeToken?
    /// Targets that stopped following the stream before this event. Their position does not change.
    package var left: Set<TargetID> = []
    /// Whether this is the first event of the stream, so that no target follows the stream yet.
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
  /// The version of the last remote event; never decreases.
  package func lastRemoteSnapshotVersion() throws(StoreError) -> SnapshotVersion? {
    try check(.getLastRemoteSnapshotVersion)
    return try database.read { () throws(StoreError) in
      try database.globals.value(.lastRemoteSnapshotVersion).map(SnapshotVersion.init(microseconds:))
    }
  }

  /// Stores documents, the document lists of targets, and resume tokens in one transaction (S6).
  ///
  /// A stored document is replaced with an older version only if the backend lost the newer one
  /// (`RemoteEventApplication`). A token is stored if documents changed, if no token is stored yet, or if the stored
  /// token is at least five minutes older (SPEC-FORMAT §14.22). `activeTarget` always returns the newest token.
  /// - Returns: the local views of the documents that changed.
  package mutating func apply(_ event: RemoteEvent) throws(StoreError) -> [DocumentKey: Document] {
    try check(.applyRemoteEvent)
    let (changes, targets) = try stored(event)
    activeTargets.apply(targets)
    references.collected()
    return changes
  }

  /// - Returns: the changed documents, and the change to the results of the active targets.
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

/// Applies one remote event to the tables (SDK: applyRemoteEvent).
struct RemoteEventApplication {
  private let event: RemoteEvent
  private let local: LocalDocuments
  private let database: CacheDatabase
  private let collector: EagerGarbageCollector?
  private var others: OtherUsers?
  private var sequenceNumber: Int64 = 0
  private var readTime: SnapshotVersion?
  /// The highest version of stored documents that the backend may have lost. It is at most the event's version.
  private var lostVersions: Int64 = .min
  private let targets: ActiveTargets
  /// The change to the results of the active targets.
  private(set) var targetChange = ActiveTargets.Change()
  /// The documents of the event that the cache already has in the same version or a newer one.
  private var unchanged: Set<DocumentKey> = []
  /// The local views that differ from the event's documents because of pending writes.
  private var views: [DocumentKey: Document] = [:]
  /// The numbers of the event's documents.
  private var numbers: [DocumentKey: DocumentNumber] = [:]
  /// Documents to remove, because the client can no longer read them.
  private var lost: [DocumentNumber] = []
  private var unreferenced: [DocumentNumber] = []
  /// Whether the last document was new. If so, the next document is probably new too, and is inserted without looking
  /// it up first.
  private var expectsNewDocuments = false

  init(
    _ event: RemoteEvent, _ local: LocalDocuments, _ targets: ActiveTargets,
    _ collector: EagerGarbageCollector?
  ) {
    self.event = event
    self.local = local
    database = local.database
    self.targets = targets
    self.collector = collector
  }

  /// - Precondition: inside a transaction.
  mutating func perform() throws(StoreError) -> [DocumentKey: Document] {
    sequenceNumber = try database.sequenceNumbers.next()
    others = try OtherUsers(local)
    let readTime = try database.globals.readTime(in: event.version)
    self.readTime = readTime
    if let version = event.version?.microseconds {
      if event.hasReset { try database.globals.set(.lastResetVersion, version) }
      lostVersions = min(version, try database.globals.value(.lastResetVersion) ?? .min)
    }
    numbers.reserveCapacity(event.documents.count)
    // Stores documents in key order, because adjacent entries of the key index share pages.
    for document in [OrderBy(.documentID)].sorted(event.documents.values) {
      if try !store(document, document.key) { unchanged.insert(document.key) }
    }
    for id in Set(event.targetChanges.keys).union(event.targetMismatches.keys) { try update(id) }
    try advanceFollowers()
    try forgetLost()
    try advanceVersion()
    var changes = changes
    if let collector {
      let removed = try collector.collect(event.resolvedLimboDocuments) + collector.collect(unreferenced)
      for key in removed where changes[key] != nil { changes[key] = LocalDocuments.nothing(key) }
    }
    return changes
  }

  /// The local views of the documents that the event changed. Most of these views equal the event's documents and need
  /// no lookup.
  private var changes: [DocumentKey: Document] {
    var changes = event.documents
    for key in unchanged { changes[key] = nil }
    for (key, view) in views { changes[key] = view }
    return changes
  }

  private func isChanged(_ key: DocumentKey) -> Bool { event.documents[key] != nil && !unchanged.contains(key) }

  // MARK: Documents

  /// - Returns: whether the document changed.
  private mutating func store(_ document: Document, _ key: DocumentKey) throws(StoreError) -> Bool {
    let collection = try number(of: key)
    let name = key.documentID
    let others = try others?.views(of: collection, name) ?? []
    if expectsNewDocuments, document.version != nil {
      let inserted = try database.documents.insertIfAbsent(
        document, name, in: collection, readTime: readTime, sequenceNumber: sequenceNumber)
      if let inserted {
        numbers[key] = inserted
        try makeViews(over: document, from: nil, others, key, collection, name)
        return true
      }
    }
    let header = try database.documents.header(collection, name)
    expectsNewDocuments = header == nil
    numbers[key] = header?.number
    var remote: Document? = document
    var before = local.hasBatches && header != nil ? try local.remoteToCompare(key, collection, name) : nil
    for other in others where header != nil && before == nil {
      before = try other.remoteToCompare(key, collection, name)
    }
    if document.version == nil, case .missing = document.state {
      // Missing without a version, which is not a deletion: the client may no longer read the document.
      remote = nil
      if let header { lost.append(header.number) }
    } else if isNewer(document, than: header) {
      numbers[key] = try database.documents.store(
        document, over: header, in: collection, readTime: readTime,
        sequenceNumber: sequenceNumber)
    } else {
      if let header, event.resolvedLimboDocuments.contains(key) {
        try database.documents.touch(header.number, sequenceNumber: sequenceNumber)
      }
      return false
    }
    try makeViews(over: remote, from: before, others, key, collection, name)
    return true
  }

  private mutating func makeViews(
    over remote: Document?, from before: Document?, _ others: [LocalDocuments], _ key: DocumentKey,
    _ collection: CollectionNumber, _ name: String
  ) throws(StoreError) {
    for other in others { _ = try other.view(of: key, overChanged: remote, from: before, collection, name) }
    guard local.hasBatches else { return }
    if let view = try local.view(of: key, overChanged: remote, from: before, collection, name) { views[key] = view }
  }

  /// Whether a document of the event replaces the stored one.
  ///
  /// A snapshot contains the newest version of each document at the snapshot's time. If the backend resets a target and
  /// then sends an older version than the stored one, the backend has lost the newer version. This happens if the
  /// backend's data was restored from a copy, or if the backend lost its last commits. (The official SDKs keep the
  /// newer version permanently.)
  private func isNewer(_ document: Document, than header: DocumentTable.Header?) -> Bool {
    guard let header, header.state != .placeholder, let stored = header.version else { return true }
    let version = document.version?.microseconds ?? .min
    if version == stored { return header.state.isCommitted }
    return version > stored || stored <= lostVersions
  }

  private func forgetLost() throws(StoreError) {
    for number in lost {
      if try database.targets.anyContains(number) {
        try database.documents.clear(number, sequenceNumber: sequenceNumber)
      } else {
        try database.documents.remove(number)
      }
    }
  }

  // MARK: Targets

  private mutating func update(_ id: TargetID) throws(StoreError) {
    guard var target = targets[id] else { return }
    let change = event.targetChanges[id] ?? TargetChange()
    let isMismatch = event.targetMismatches[id] != nil
    if isMismatch {
      // The target's cached members are wrong, so they are replaced with this event's documents.
      unreferenced += collector == nil ? [] : try database.targets.members(of: id)
      try database.targets.removeMembers(of: id)
      try add(change.modified, to: id)
    }
    try remove(change.removed, from: id)
    // Another document moves into the limit after a removal, and the stored members do not show which one.
    if target.data.target.limit != nil, !change.removed.isEmpty { target.data.lastLimboFreeSnapshotVersion = nil }
    try add(change.added, to: id)

    let hadToken = target.data.resumeToken != nil
    target.data.sequenceNumber = sequenceNumber
    if isMismatch {
      target.data.resumeToken = nil
      target.data.snapshotVersion = nil
      target.data.lastLimboFreeSnapshotVersion = nil
    } else if let token = change.resumeToken {
      target.data.resumeToken = token
      target.data.snapshotVersion = event.version ?? target.data.snapshotVersion
    }
    let changesDocuments = !(change.added.isEmpty && change.modified.isEmpty && change.removed.isEmpty)
    if isMismatch || changesDocuments || !hadToken || target.snapshotVersionIsDue { try target.store(in: database) }
    target.followsStream = !isMismatch
    targetChange.replaced[id] = target
  }

  /// Applies the stream's position to the targets that follow the stream. Stores the position only if the stored one is
  /// at least five minutes older, so that writes are rare.
  private mutating func advanceFollowers() throws(StoreError) {
    (targetChange.left, targetChange.isFirstOfStream) = (event.position.left, event.position.isFirst)
    guard let token = event.position.token, let version = event.version else { return }
    let position = ActiveTargets.Position(token: token, version: version, sequenceNumber: sequenceNumber)
    targetChange.position = position
    guard targets.mayHaveDueFollowers(at: version) else { return }
    targetChange.storesFollowers = true
    for id in targets.followers(after: targetChange) where targetChange.replaced[id] == nil {
      guard var target = targets[id] else { continue }
      target.data.advance(to: position)
      guard target.snapshotVersionIsDue else { continue }
      try target.store(in: database)
      targetChange.replaced[id] = target
    }
  }

  /// Adds documents to a target in ascending order. Neighboring rows share pages, so fewer pages are written.
  private mutating func add(_ keys: Set<DocumentKey>, to id: TargetID) throws(StoreError) {
    var members: [DocumentNumber] = []
    members.reserveCapacity(keys.count)
    for key in keys { members.append(try memberNumber(key)) }
    members.sort()
    try database.targets.add(members, to: id)
  }

  private mutating func memberNumber(_ key: DocumentKey) throws(StoreError) -> DocumentNumber {
    if let number = numbers[key] { return number }
    let collection = try number(of: key)
    let name = key.documentID
    let number: DocumentNumber
    if let header = try database.documents.header(collection, name) {
      number = header.number
    } else {
      number = try database.documents.storePlaceholder(collection, name, sequenceNumber: sequenceNumber)
    }
    numbers[key] = number
    return number
  }

  private mutating func remove(_ keys: Set<DocumentKey>, from id: TargetID) throws(StoreError) {
    var members: [DocumentNumber] = []
    for key in keys {
      var number = numbers[key]
      if number == nil { number = try database.documents.header(try self.number(of: key), key.documentID)?.number }
      guard let number else { continue }
      members.append(number)
      // Documents that were stored by this event already have the new read time and sequence number.
      if !isChanged(key), let readTime {
        try database.documents.renew(number, readTime: readTime, sequenceNumber: sequenceNumber)
      }
    }
    try database.targets.remove(members, from: id)
    if collector != nil { unreferenced += members }
  }

  private func advanceVersion() throws(StoreError) {
    guard let version = event.version?.microseconds else { return }
    let last = try database.globals.value(.lastRemoteSnapshotVersion)
    if version > last ?? .min { try database.globals.set(.lastRemoteSnapshotVersion, version) }
  }

  private func number(of key: DocumentKey) throws(StoreError) -> CollectionNumber {
    try database.collections.numberAdding(key)
  }
}
