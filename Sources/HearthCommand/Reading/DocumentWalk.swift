// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol

/// Visits documents at the server in a stable order, page by page: a collection in the order of its ids, below each
/// document its subcollections in the order of theirs.
struct DocumentWalk: Sendable {
  enum Order: Sendable { case parentsFirst, childrenFirst }

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
    var passedOver = 0
    let looksBelow = isRecursive || countsSubcollections
    var members = CollectionMembers(of: path, at: datastore, database, includesMissing: looksBelow)
    while let page = try await members.next() { passedOver += try await visit(page, body) }
    return passedOver
  }

  private func visit(_ page: [Document], _ body: (Document) async throws -> Void) async throws -> Int {
    let subcollections =
      isRecursive || countsSubcollections ? try await datastore.collectionIDs(below: page.map(\.key)) : []
    for (index, document) in page.enumerated() {
      if order == .parentsFirst, document.exists { try await body(document) }
      if isRecursive {
        for id in subcollections[index] { try await visit(document.key.path.appending(id), body) }
      }
      if order == .childrenFirst, document.exists { try await body(document) }
    }
    return isRecursive ? 0 : subcollections.map(\.count).reduce(0, +)
  }
}
