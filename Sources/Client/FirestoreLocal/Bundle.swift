// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import FirestoreProtocol
package import FirestoreQuery
package import FirestoreSQLite

/// A Firestore bundle: query results that a backend has packed. Loading a bundle fills the cache without querying the
/// backend.
package struct Bundle: Sendable {
  package struct NamedQuery: Sendable {
    package var name: String
    package var query: Query
    /// The snapshot version of the query's result.
    package var readTime: SnapshotVersion

    package init(name: String, query: Query, readTime: SnapshotVersion) {
      self.name = name
      self.query = query
      self.readTime = readTime
    }
  }

  package struct Entry: Sendable {
    /// The document as of its read time. It may be a document that does not exist.
    package var document: Document
    /// The named queries whose results contain the document.
    package var queries: [String]
    /// The byte offset of the end of this entry in the bundle.
    package var byteEnd: Int

    package init(document: Document, queries: [String], byteEnd: Int = 0) {
      self.document = document
      self.queries = queries
      self.byteEnd = byteEnd
    }
  }

  package var id: String
  /// The bundle's creation time. A bundle replaces an older one with the same id.
  package var createTime: SnapshotVersion
  package var queries: [NamedQuery]
  package var entries: [Entry]

  package init(id: String, createTime: SnapshotVersion, queries: [NamedQuery] = [], entries: [Entry] = []) {
    self.id = id
    self.createTime = createTime
    self.queries = queries
    self.entries = entries
  }
}

/// The loaded bundles and their named queries.
struct BundleTable {
  static let schema = """
    CREATE TABLE bundles (
      id TEXT PRIMARY KEY,
      create_time INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE named_queries (
      name TEXT PRIMARY KEY,
      query BLOB NOT NULL,
      read_time INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    """

  let connection: Connection

  func createTime(of id: String) throws(StoreError) -> SnapshotVersion? {
    try connection.integer("SELECT create_time FROM bundles WHERE id = ?", id).map { SnapshotVersion(microseconds: $0) }
  }

  func set(_ id: String, _ createTime: SnapshotVersion) throws(StoreError) {
    try connection.run(
      """
      INSERT INTO bundles (id, create_time) VALUES (?, ?)
      ON CONFLICT DO UPDATE SET create_time = excluded.create_time
      """, id, createTime.microseconds)
  }

  func query(named name: String) throws(StoreError) -> Bundle.NamedQuery? {
    try connection.first("SELECT query, read_time FROM named_queries WHERE name = ?", name) {
      row throws(StoreError) in
      do throws(ModelError) {
        let query = try Query(decoding: row.blob(0))
        return Bundle.NamedQuery(name: name, query: query, readTime: SnapshotVersion(microseconds: row.integer(1)))
      } catch {
        throw .damaged("a named query cannot be read (\(error.message))")
      }
    }
  }

  func set(_ query: Bundle.NamedQuery) throws(StoreError) {
    try connection.run(
      """
      INSERT INTO named_queries (name, query, read_time) VALUES (?, ?, ?)
      ON CONFLICT DO UPDATE SET query = excluded.query, read_time = excluded.read_time
      """, query.name, query.query.encoded(), query.readTime.microseconds)
  }
}

extension LocalStore {
  // A bundle is stored in slices, one transaction each. It is marked as loaded only after the last slice, so an
  // interrupted load is repeated.

  /// Whether this bundle, or a newer bundle with the same id, was loaded before.
  package func hasLoaded(_ bundle: Bundle) throws(StoreError) -> Bool {
    try database.read { () throws(StoreError) in
      try database.bundles.createTime(of: bundle.id).map { $0 >= bundle.createTime } ?? false
    }
  }

  /// Stores some of a bundle's documents. A target that exists only for the bundle refers to these documents, so that
  /// they are not garbage-collected immediately.
  /// - Parameter isFirst: whether these are the first documents of the bundle. They replace the documents of an older
  ///   bundle with the same id.
  /// - Returns: the local views of the documents that changed.
  package mutating func store(
    _ slice: ArraySlice<Bundle.Entry>, of bundle: Bundle, isFirst: Bool
  ) throws(StoreError) -> [DocumentKey: Document] {
    let database = database
    var documents: [DocumentKey: Document] = [:]
    for entry in slice { documents[entry.document.key] = entry.document }
    let event = RemoteEvent(version: nil, documents: documents)
    var application = RemoteEventApplication(event, localDocuments, activeTargets, eagerGarbageCollector)
    return try database.transaction { () throws(StoreError) in
      let own = try database.targets.allocate(Self.target(ofBundle: bundle.id), database)
      let changes = try application.perform()
      if isFirst { try database.targets.removeMembers(of: own.id) }
      try database.add(slice.lazy.filter(\.document.exists).map(\.document.key), to: own.id)
      try database.sharing?.tell(.bundle(changes.keys))
      return changes
    }
  }

  /// Stores a bundle's named queries after all its documents, and marks it as loaded. A later listener to a named query
  /// resumes from the bundle's read time, unless the query's target has newer data.
  package mutating func finish(_ bundle: Bundle) throws(StoreError) {
    let database = database
    let own = activeTargets.ids
    try database.transaction { () throws(StoreError) in
      var active = own
      if let sharing = database.sharing {
        active.formUnion(try sharing.tables.targets(ofOthersThan: sharing.id, .backend))
      }
      var members: [String: [DocumentKey]] = [:]
      for entry in bundle.entries where entry.document.exists {
        for query in entry.queries { members[query, default: []].append(entry.document.key) }
      }
      for query in bundle.queries { try database.store(query, members[query.name] ?? [], active) }
      try database.bundles.set(bundle.id, bundle.createTime)
    }
  }

  /// The named query from a loaded bundle.
  package func namedQuery(_ name: String) throws(StoreError) -> Bundle.NamedQuery? {
    try database.read { () throws(StoreError) in try database.bundles.query(named: name) }
  }

  /// Returns the target that exists only for a bundle. Its collection id has a reserved form, which no real collection
  /// can have. The bundle id is a single path segment and may contain any character.
  private static func target(ofBundle id: String) -> Target {
    let segment = id.map { $0 == "/" ? "%2F" : $0 == "%" ? "%25" : String($0) }.joined()
    return Query(path: ResourcePath("__bundle__/docs").appending(segment)).target
  }
}

extension CacheDatabase {
  fileprivate func add(_ keys: some Sequence<DocumentKey>, to target: TargetID) throws(StoreError) {
    var members: [DocumentNumber] = []
    for key in keys {
      guard let collection = try collections.number(of: key),
        let header = try documents.header(collection, key.documentID)
      else { continue }
      members.append(header.number)
    }
    try targets.add(members, to: target)
  }

  /// - Parameter active: the targets with listeners. The bundle does not replace their cached results, which are newer.
  fileprivate func store(
    _ query: Bundle.NamedQuery, _ members: [DocumentKey], _ active: Set<TargetID>
  ) throws(StoreError) {
    try bundles.set(query)
    var data = try targets.allocate(query.query.target, self)
    if active.contains(data.id) { return }
    if let known = data.snapshotVersion, known >= query.readTime { return }
    data.resumeToken = nil
    data.snapshotVersion = query.readTime
    try targets.set(data)
    try targets.removeMembers(of: data.id)
    try add(members, to: data.id)
  }
}
