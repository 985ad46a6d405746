// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreProtocol
package import FirestoreQuery

/// The documents below a path at the server in a stable order, page by page. The documents of a collection are in id
/// order. In a recursive walk, each document is followed by its subcollections in their id order.
package struct DocumentWalk: Sendable {
  package let datastore: any Datastore
  package let database: DatabaseID
  package let isRecursive: Bool
  /// Whether a non-recursive walk counts the subcollections that it skips.
  package var countsSubcollections = false
  /// The fields to read; `nil` for all fields.
  package var projection: FieldMask?

  package init(at datastore: any Datastore, _ database: DatabaseID, isRecursive: Bool) {
    self.datastore = datastore
    self.database = database
    self.isRecursive = isRecursive
  }

  /// Visits a document and its descendants, the documents of a collection, or a whole database.
  /// - Returns: the number of skipped subcollections if they are counted.
  @discardableResult
  package func visit(_ path: ResourcePath, _ body: (Document) async throws -> Void) async throws -> Int {
    if isRecursive, try await visitAll(path, body) { return 0 }
    var iterator = Iterator(self, path)
    while let document = try await iterator.next() { try await body(document) }
    return iterator.passedOver
  }

  /// Visits the same documents in the same order as a walk, but with queries over all collections.
  /// - Returns: `false` if the backend does not support such queries. In this case no document was visited.
  private func visitAll(_ path: ResourcePath, _ body: (Document) async throws -> Void) async throws -> Bool {
    let pages = DescendantPages(below: path, at: datastore, projection: projection)
    guard let key = DocumentKey(path) else { return try await pages.visit(body) }
    var first = try await datastore.lookup([key], ReadView(projection: projection)).first
    let isAnswered = try await pages.visit { document in
      if let found = first, found.exists { try await body(found) }
      first = nil
      try await body(document)
    }
    if isAnswered, let found = first, found.exists { try await body(found) }
    return isAnswered
  }

  /// A walk that advances on request.
  package struct Iterator {
    private enum Frame {
      case root
      case document(DocumentKey)
      case collections(ArraySlice<ResourcePath>)
      case members(CollectionMembers)
      case page(ArraySlice<Document>, collections: ArraySlice<[String]>)
    }

    private let walk: DocumentWalk
    /// The parts that remain to be visited. The last one is next.
    private var frames: [Frame]
    /// The number of skipped subcollections if they are counted.
    private(set) var passedOver = 0

    init(_ walk: DocumentWalk, _ path: ResourcePath) {
      self.walk = walk
      frames = path.isRoot ? [.root] : [DocumentKey(path).map { .document($0) } ?? .collections([path])]
    }

    /// - Returns: the next existing document; `nil` after the last document.
    mutating func next() async throws -> Document? {
      while let frame = frames.popLast() {
        switch frame {
        case .root:
          let ids = try await walk.datastore.listCollectionIDs(below: .root)
          frames.append(.collections(ids.map { ResourcePath($0) }[...]))
        case .document(let key):
          try await open(try await walk.datastore.lookup([key], ReadView(projection: walk.projection)))
        case .collections(let paths):
          guard let first = paths.first else { continue }
          frames.append(.collections(paths.dropFirst()))
          let members = CollectionMembers(
            of: first, at: walk.datastore, walk.database, includesMissing: looksBelow, projection: walk.projection)
          frames.append(.members(members))
        case .members(var members):
          guard let page = try await members.next() else { continue }
          frames.append(.members(members))
          try await open(page)
        case .page(let documents, let collections):
          guard let document = documents.first, let ids = collections.first else { continue }
          frames.append(.page(documents.dropFirst(), collections: collections.dropFirst()))
          if walk.isRecursive {
            frames.append(.collections(ids.map { document.key.path.appending($0) }[...]))
          } else {
            passedOver += ids.count
          }
          if document.exists { return document }
        }
      }
      return nil
    }

    private var looksBelow: Bool { walk.isRecursive || walk.countsSubcollections }

    private mutating func open(_ page: [Document]) async throws {
      let none = [[String]](repeating: [], count: page.count)
      let ids = looksBelow ? try await walk.datastore.collectionIDs(below: page.map(\.key)) : none
      frames.append(.page(page[...], collections: ids[...]))
    }
  }
}

/// The documents of a collection in id order, read page by page. Nonexistent documents that have subcollections are
/// included.
package struct CollectionMembers {
  private let collection: ResourcePath
  private let datastore: any Datastore
  private let includesMissing: Bool
  private let limit: Int?
  private var pages: DocumentPages
  private var missing: ArraySlice<DocumentKey>?
  private var count = 0
  private var isFinished = false

  /// - Parameters:
  ///   - limit: the largest number of documents; `nil` for all.
  ///   - projection: the fields to read; `nil` for all fields.
  init(
    of collection: ResourcePath, at datastore: any Datastore, _ database: DatabaseID, includesMissing: Bool = true,
    limit: Int? = nil, projection: FieldMask? = nil
  ) {
    self.collection = collection
    self.datastore = datastore
    self.includesMissing = includesMissing
    self.limit = limit
    pages = DocumentPages(
      of: Query(path: collection, limit: limit), at: datastore, database, projection: projection)
  }

  /// - Returns: the next documents; `nil` after the last document. Nonexistent documents have no version.
  mutating func next() async throws -> [Document]? {
    if isFinished { return nil }
    if missing == nil { missing = includesMissing ? try await datastore.missingDocuments(in: collection)[...] : [] }
    var page = try await pages.next()
    if let last = page?.last {
      let between = missing?.prefix { $0 < last.key } ?? []
      missing = missing?.dropFirst(between.count)
      page = ((page ?? []) + between.map(Self.placeholder)).sorted { $0.key < $1.key }
    } else {
      isFinished = true
      page = missing?.map(Self.placeholder)
    }
    if let limit { page = page.map { Array($0.prefix(limit - count)) } }
    guard let page, !page.isEmpty else {
      isFinished = true
      return nil
    }
    count += page.count
    return page
  }

  private static func placeholder(_ key: DocumentKey) -> Document { Document(key: key, version: nil, state: .missing) }
}

extension Datastore {
  /// The ids of the collections below each document. Several documents are requested concurrently.
  package func collectionIDs(below keys: [DocumentKey]) async throws -> [[String]] {
    try await withThrowingTaskGroup(of: (Int, [String]).self) { group in
      var ids = [[String]](repeating: [], count: keys.count)
      for (index, key) in keys.enumerated() {
        if index >= 16, let (done, found) = try await group.next() { ids[done] = found }
        group.addTask { (index, try await self.listCollectionIDs(below: key.path)) }
      }
      for try await (done, found) in group { ids[done] = found }
      return ids
    }
  }

  /// Counts the documents in the result of a query.
  package func count(_ query: Query) async throws -> Int {
    let figures = try await aggregate(query.target, [Aggregation(alias: "count", function: .count)])
    guard case .integer(let count)? = figures["count"] else {
      throw RPCStatus(.internal, "The server did not return a count.")
    }
    return Int(count)
  }
}
