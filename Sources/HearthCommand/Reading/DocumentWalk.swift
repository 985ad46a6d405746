// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery

/// Visits documents at the server in a stable order, page by page: a collection in the order of its ids, below each
/// document its subcollections in the order of theirs.
struct DocumentWalk: Sendable {
  enum Order: Sendable { case parentsFirst, childrenFirst }

  /// Documents whose subcollections are asked for at the same time.
  private static let concurrentListings = 16

  let datastore: any Datastore
  let database: DatabaseID
  let isRecursive: Bool
  var order = Order.parentsFirst
  /// Whether a walk that is not recursive asks which subcollections it passes over.
  var countsSubcollections = false

  init(at connection: Connection, isRecursive: Bool, order: Order = .parentsFirst) {
    self.init(at: connection.datastore, connection.database, isRecursive: isRecursive, order: order)
  }

  init(at datastore: any Datastore, _ database: DatabaseID, isRecursive: Bool, order: Order = .parentsFirst) {
    self.datastore = datastore
    self.database = database
    self.isRecursive = isRecursive
    self.order = order
  }

  /// Visits a document and, in a recursive walk, what is below it; or the documents of a collection.
  /// - Returns: how many subcollections were passed over, if that is counted.
  @discardableResult
  func visit(_ path: ResourcePath, _ body: (Document) async throws -> Void) async throws -> Int {
    if let key = DocumentKey(path) {
      guard let document = try await datastore.lookup([key]).first else { return 0 }
      return try await visit([document], body)
    }
    let looksBelow = isRecursive || countsSubcollections
    var missing = looksBelow ? try await datastore.missingDocuments(in: path)[...] : []
    var passedOver = 0
    var pages = DocumentPages(of: Query(path: path), at: datastore, database)
    while var page = try await pages.next() {
      // Documents that do not exist themselves, among their neighbours.
      if let last = page.last {
        let between = missing.prefix { $0 < last.key }
        missing = missing.dropFirst(between.count)
        page = (page + between.map(Self.placeholder)).sorted { $0.key < $1.key }
      }
      passedOver += try await visit(page, body)
    }
    return passedOver + (try await visit(missing.map(Self.placeholder), body))
  }

  private static func placeholder(_ key: DocumentKey) -> Document { Document(key: key, version: nil, state: .missing) }

  private func visit(_ page: [Document], _ body: (Document) async throws -> Void) async throws -> Int {
    let subcollections = isRecursive || countsSubcollections ? try await collections(below: page) : []
    for (index, document) in page.enumerated() {
      if order == .parentsFirst, document.exists { try await body(document) }
      if isRecursive {
        for id in subcollections[index] { try await visit(document.key.path.appending(id), body) }
      }
      if order == .childrenFirst, document.exists { try await body(document) }
    }
    return isRecursive ? 0 : subcollections.map(\.count).reduce(0, +)
  }

  /// The ids of the collections below each document.
  private func collections(below page: [Document]) async throws -> [[String]] {
    let datastore = datastore
    return try await withThrowingTaskGroup(of: (Int, [String]).self) { group in
      var ids = [[String]](repeating: [], count: page.count)
      for (index, document) in page.enumerated() {
        if index >= Self.concurrentListings, let (done, found) = try await group.next() { ids[done] = found }
        group.addTask { (index, try await datastore.listCollectionIDs(below: document.key.path)) }
      }
      for try await (done, found) in group { ids[done] = found }
      return ids
    }
  }
}
