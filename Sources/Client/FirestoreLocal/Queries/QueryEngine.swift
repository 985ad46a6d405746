// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSQLite

/// Executes queries on the tables. Starts from a previous result if that result is reliable. If not, uses indexes if
/// possible, and otherwise scans the collection.
struct QueryEngine {
  let local: LocalDocuments

  var database: CacheDatabase { local.database }

  func execute(
    _ query: Query, _ target: TargetData?, usingPreviousResults: Bool
  ) throws(StoreError) -> QueryResult {
    if query.isDocumentQuery { return try documentQuery(query, target) }
    if usingPreviousResults, let target, let result = try fromSyncedResult(query, target) { return result }
    if let result = try indexed(query, target) { return result }
    return try scanning(query, target)
  }

  private func documentQuery(_ query: Query, _ target: TargetData?) throws(StoreError) -> QueryResult {
    let key = DocumentKey(unchecked: query.path)
    let document = try local.document(key)
    return QueryResult(
      matches: document.map { $0.exists ? [$0] : [] } ?? [], remoteKeys: try resolve(try members(of: target)),
      plan: .document)
  }

  private func scanning(_ query: Query, _ target: TargetData?) throws(StoreError) -> QueryResult {
    let hits = Hits(query, try members(of: target))
    for collection in try collections(of: query) {
      let overlaid = try considerOverlaid(collection, hits)
      let filter = hits.filter
      if let mirror = try database.documents.mirror(of: collection, wantsAll: filter == nil) {
        hits.count(scanned: mirror.count)
        mirror.scan({ hits.ranges }) { index, document in
          let number = DocumentNumber(collection, Int64(index))
          if !overlaid.contains(number) { hits.consider(document, number) }
        }
        continue
      }
      let path = try database.collections.path(of: collection)
      if filter == nil { hits.expect(try database.documents.extent(of: collection)) }
      try database.documents.scan(collection, where: filter) { row throws(StoreError) in
        // Checks a row without a document too, because its state may be damaged.
        guard row.isFound else { return try row.check() }
        if overlaid.contains(row.number) { return }
        try hits.consider(row, in: path, isAdmitted: filter != nil)
      }
    }
    let hints = hits.takeHints()
    let (documents, remote) = hits.finish()
    return QueryResult(
      matches: documents, hints: hints, remoteKeys: try resolve(remote), plan: .scan, documentsScanned: hits.scanned)
  }

  func members(of target: TargetData?) throws(StoreError) -> RemoteKeys {
    RemoteKeys(try target.map { data throws(StoreError) in try database.targets.members(of: data.id) } ?? [])
  }

  func resolve(_ remote: consuming RemoteKeys) throws(StoreError) -> Set<DocumentKey> {
    try remote.resolved { number throws(StoreError) in
      try database.documents.name(number).map { name throws(StoreError) in
        try database.collections.key(number.collection, name)
      }
    }
  }

  // MARK: Previous results

  /// Combines the target's documents that still match with the documents that have changed since the target last had no
  /// documents in limbo.
  /// - Returns: `nil` if an unchanged document may have entered the result, so that all documents must be read.
  private func fromSyncedResult(_ query: Query, _ target: TargetData) throws(StoreError) -> QueryResult? {
    guard !query.matchesAllDocuments, let limboFree = target.lastLimboFreeSnapshotVersion else { return nil }
    let matcher = query.target
    var documents: [Document] = []
    var remoteKeys: Set<DocumentKey> = []
    var scanned = 0
    try database.scanMembers(of: target.id) { row throws(StoreError) in
      let key = row.key(in: try database.collections.path(of: row.collection))
      remoteKeys.insert(key)
      scanned += 1
      let remote = try row.document(key)
      let view =
        local.hasBatches
        ? LocalDocuments.view(of: key, over: remote, try local.overlay(of: key)) : remote
      if let view, matcher.matches(view) { documents.append(view) }
    }
    if needsRefill(query, documents, remoteKeys.count, limboFree) { return nil }

    var changed: [Document] = []
    for collection in try collections(of: query) {
      let hits = Hits(query)
      let overlaid = try considerOverlaid(collection, hits)
      let path = try database.collections.path(of: collection)
      try database.documents.scan(collection, changedSince: limboFree) { row throws(StoreError) in
        guard row.isFound else { return try row.check() }
        if overlaid.contains(row.number) { return }
        try hits.consider(row, in: path, isAdmitted: false)
      }
      scanned += hits.scanned
      changed += hits.finish().documents
    }
    if !changed.isEmpty {
      let keys = Set(changed.lazy.map(\.key))
      documents.removeAll { keys.contains($0.key) }
      documents += changed
    }
    return QueryResult(
      matches: documents, remoteKeys: remoteKeys, plan: .syncedResult, documentsScanned: scanned)
  }

  /// Whether a document outside the previous result may now be within the limit (SDK: needsRefill).
  private func needsRefill(
    _ query: Query, _ previous: some Collection<Document>, _ remoteCount: Int, _ limboFree: SnapshotVersion
  ) -> Bool {
    guard query.limit != nil else { return false }
    // A document no longer matches, so another one may take its place.
    if previous.count != remoteCount { return true }
    let target = query.target
    let edge = previous.max { target.compare($0, $1) == .ascending }
    // The document at the limit has changed, so another one may now precede it.
    guard let edge else { return false }
    return edge.hasPendingWrites || edge.version.map { $0 > limboFree } ?? true
  }

  // MARK: Scanning

  func collections(of query: Query) throws(StoreError) -> [CollectionNumber] {
    if let id = query.collectionGroup { return try database.collections.group(id, below: query.path) }
    return try database.collections.number(of: query.path).map { [$0] } ?? []
  }

  /// Adds the documents with pending writes. Their number is small, so their views are computed one by one.
  /// - Returns: the numbers of these documents. A scan then skips them.
  func considerOverlaid(
    _ collection: CollectionNumber, _ hits: Hits
  ) throws(StoreError) -> Set<DocumentNumber> {
    guard local.hasBatches else { return [] }
    var overlaid: Set<DocumentNumber> = []
    for overlay in try database.overlays.overlays(in: collection, of: local.user) {
      if let header = try database.documents.header(collection, overlay.key.documentID) {
        overlaid.insert(header.number)
      }
      let remote = try database.documents.document(overlay.key, in: collection)
      hits.insert(LocalDocuments.view(of: overlay.key, over: remote, overlay))
    }
    return overlaid
  }
}

/// The documents of a target, as numbers. A scan runs in the same order and adds the keys of the documents that it
/// reads.
struct RemoteKeys {
  /// The documents' numbers, ascending.
  let numbers: [DocumentNumber]
  private(set) var keys: Set<DocumentKey> = []
  private var next = 0
  private var skipped: [DocumentNumber] = []

  init(_ numbers: [DocumentNumber]) {
    self.numbers = numbers
    keys.reserveCapacity(numbers.count)
  }

  /// - Parameter number: the document's number, which must be higher than all previous numbers.
  mutating func note(_ key: DocumentKey, _ number: DocumentNumber) {
    while next < numbers.count, numbers[next] < number {
      skipped.append(numbers[next])
      next += 1
    }
    if next < numbers.count, numbers[next] == number {
      keys.insert(key)
      next += 1
    }
  }

  /// The keys of all documents. Looks up the keys that no scan has added.
  consuming func resolved(_ key: (DocumentNumber) throws(StoreError) -> DocumentKey?)
    throws(StoreError) -> Set<DocumentKey>
  {
    for number in skipped + numbers[next...] {
      if let key = try key(number) { keys.insert(key) }
    }
    return keys
  }
}
