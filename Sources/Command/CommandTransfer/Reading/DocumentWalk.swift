// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreProtocol

/// The documents below a path at the server in a stable order, page by page: a collection in the order of its ids, and
/// behind each document its subcollections in the order of theirs, if the walk is recursive.
package struct DocumentWalk: Sendable {
  package let datastore: any Datastore
  package let database: DatabaseID
  package let isRecursive: Bool
  /// Whether a walk that is not recursive counts the subcollections that it passes over.
  package var countsSubcollections = false
  /// The fields to read; `nil` for all.
  package var projection: FieldMask?

  package init(at datastore: any Datastore, _ database: DatabaseID, isRecursive: Bool) {
    self.datastore = datastore
    self.database = database
    self.isRecursive = isRecursive
  }

  /// Visits a document and its descendants, the documents of a collection, or a whole database.
  /// - Returns: the number of subcollections passed over, if they are counted.
  @discardableResult
  package func visit(_ path: ResourcePath, _ body: (Document) async throws -> Void) async throws -> Int {
    if isRecursive, try await visitAll(path, body) { return 0 }
    var iterator = Iterator(self, path)
    while let document = try await iterator.next() { try await body(document) }
    return iterator.passedOver
  }

  /// Visits the same documents in the same order, by queries over all collections.
  /// - Returns: `false`, without any visit, for a backend that has no such queries.
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
    /// The parts that are left, the next one last.
    private var frames: [Frame]
    /// The number of subcollections passed over, if they are counted.
    private(set) var passedOver = 0

    init(_ walk: DocumentWalk, _ path: ResourcePath) {
      self.walk = walk
      frames = path.isRoot ? [.root] : [DocumentKey(path).map { .document($0) } ?? .collections([path])]
    }

    /// - Returns: the next document that exists; `nil` after the last.
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
