// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery

/// The contents of a cache by collection, and the items that the next garbage collection would evict.
package struct CacheSurvey: Sendable {
  /// A collection's part of the cache.
  package struct Share: Hashable, Sendable {
    package var path: ResourcePath
    package var documents: Int
    /// The number of documents that are known not to exist, or of which only the name is in the cache.
    package var names: Int
    /// The size in bytes of the documents' fields and ids.
    package var bytes: Int64
    /// The number of documents with pending writes of any user. The cache stores one overlay for each document and
    /// user.
    package var overlays: Int
    /// The number of documents that a garbage collection would evict now.
    package var leavingDocuments: Int
    package var leavingBytes: Int64
    /// The results in the cache that make the collection, or parts of it, available offline.
    package var coverage: Coverage

    package init(
      path: ResourcePath, documents: Int, names: Int = 0, bytes: Int64, overlays: Int = 0,
      leavingDocuments: Int = 0, leavingBytes: Int64 = 0, coverage: Coverage = Coverage()
    ) {
      self.path = path
      self.documents = documents
      self.names = names
      self.bytes = bytes
      self.overlays = overlays
      self.leavingDocuments = leavingDocuments
      self.leavingBytes = leavingBytes
      self.coverage = coverage
    }
  }

  /// The complete results in the cache that contain documents of a collection.
  package struct Coverage: Hashable, Sendable {
    /// The server time of the newest complete copy of the collection; `nil` if the cache has never had a complete copy.
    package var wholeAsOf: Timestamp?
    /// The number of cached results of queries that select only a part of the collection.
    package var results: Int
    /// The server time of the newest of these results.
    package var newestResult: Timestamp?

    package init(wholeAsOf: Timestamp? = nil, results: Int = 0, newestResult: Timestamp? = nil) {
      self.wholeAsOf = wholeAsOf
      self.results = results
      self.newestResult = newestResult
    }
  }

  /// An item that a garbage collection would evict now.
  package struct Victim: Hashable, Sendable {
    package enum Subject: Hashable, Sendable {
      /// The cached result of a query without a listener. Its documents are not evicted if other results contain them.
      case result(Target, documents: Int)
      /// A document that is in no cached result.
      case document(DocumentKey, bytes: Int64)
    }

    package var subject: Subject
    /// The number of the item's last use. All uses in the cache are numbered by one counter.
    package var lastUse: Int64
    /// The server time at which the server last sent the document or confirmed the result; `nil` if the server never
    /// did.
    package var confirmed: Timestamp?

    package init(_ subject: Subject, lastUse: Int64, confirmed: Timestamp? = nil) {
      self.subject = subject
      self.lastUse = lastUse
      self.confirmed = confirmed
    }
  }

  package enum Policy: String, Hashable, Sendable {
    /// Evicts the least recently used 10 % when the cache exceeds its limit.
    case leastRecentlyUsed
    /// Evicts a document as soon as nothing refers to it.
    case eager
    case never
  }

  /// The time at which the survey ended, by the client's clock.
  package var time: Timestamp
  package var policy: Policy
  /// The size in bytes of the database file and its write-ahead log. For a cache in memory, the size of the pages.
  package var bytes: Int64
  /// The size in bytes of the free pages.
  package var freeBytes: Int64
  /// The cache size in bytes above which the client evicts documents; `nil` if there is no limit.
  package var limit: Int64?
  /// The collections, largest first. At most `ClientInside.listed` of them are listed.
  package var shares: [Share]
  package var collectionCount: Int
  /// The number of cached query results, with or without a listener.
  package var targets: Int
  /// The number of cached query results that a garbage collection would evict now.
  package var leavingTargets: Int
  /// The items that a garbage collection would evict now, least recently used first. At most `ClientInside.listed`
  /// items of each kind are listed.
  package var victims: [Victim]
  /// The contents of the cache other than documents.
  package var contents: CacheContents

  package init(
    time: Timestamp, policy: Policy, bytes: Int64, freeBytes: Int64, limit: Int64?, shares: [Share], targets: Int,
    leavingTargets: Int, victims: [Victim] = [], contents: CacheContents = CacheContents()
  ) {
    self.time = time
    self.policy = policy
    self.bytes = bytes
    self.freeBytes = freeBytes
    self.limit = limit
    self.shares = Array(shares.sorted { ($0.bytes, $1.path) > ($1.bytes, $0.path) }.prefix(ClientInside.listed))
    collectionCount = shares.count
    self.targets = targets
    self.leavingTargets = leavingTargets
    self.victims = victims
    self.contents = contents
  }
}

/// The contents of a cache other than documents: its indexes, and the tables of its database.
package struct CacheContents: Sendable {
  /// A local index.
  package struct Index: Hashable, Sendable {
    package var state: IndexState
    package var entries: Int
    /// The size in bytes of the index entries, which consist of indexed values and numbers.
    package var bytes: Int64

    package init(_ state: IndexState, entries: Int, bytes: Int64) {
      self.state = state
      self.entries = entries
      self.bytes = bytes
    }
  }

  /// A table of the database.
  package struct Table: Hashable, Sendable {
    package var name: String
    package var rows: Int
    /// The size in bytes of the rows' contents, without SQLite's overhead; `nil` if it was not measured.
    package var bytes: Int64?

    package init(_ name: String, rows: Int, bytes: Int64? = nil) {
      self.name = name
      self.rows = rows
      self.bytes = bytes
    }
  }

  /// The state of the page checksums. SQLite verifies the checksum of each page that it reads.
  package enum Checksums: String, Hashable, Sendable {
    /// Every page has a checksum. All pages that were read so far matched their checksums.
    case intact
    /// A page was damaged. The next start checks the whole file.
    case damaged
    /// The database is in memory, where pages need no checksums.
    case unneeded
  }

  /// The indexes, in the order of their creation.
  package var indexes: [Index]
  /// The number of entries that belong to dropped indexes and have not been removed yet.
  package var droppedEntries: Int
  /// The tables that contain rows, largest first.
  package var tables: [Table]
  package var pageCount: Int
  /// The size of a page in bytes.
  package var pageBytes: Int64
  /// The size in bytes of the write-ahead log, which contains the changes that are not in the database file yet.
  package var logBytes: Int64
  package var checksums: Checksums

  package init(
    indexes: [Index] = [], droppedEntries: Int = 0, tables: [Table] = [], pageCount: Int = 0, pageBytes: Int64 = 0,
    logBytes: Int64 = 0, checksums: Checksums = .unneeded
  ) {
    self.indexes = indexes
    self.droppedEntries = droppedEntries
    self.tables = tables.sorted { ($0.bytes ?? 0, Int64($0.rows), $1.name) > ($1.bytes ?? 0, Int64($1.rows), $0.name) }
    self.pageCount = pageCount
    self.pageBytes = pageBytes
    self.logBytes = logBytes
    self.checksums = checksums
  }
}
