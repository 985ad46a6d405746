// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
package import FirestoreProtocol
package import FirestoreQuery

/// The documents of a collection in the order of their ids, page by page, with missing documents, which do not exist
/// themselves but have documents below them.
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
  ///   - projection: the fields to read; `nil` for all.
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

  /// - Returns: the next documents; missing ones have no version. `nil` after the last.
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
  /// The ids of the collections below each document; several documents are asked for at the same time.
  func collectionIDs(below keys: [DocumentKey]) async throws -> [[String]] {
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

  /// Counts the documents that a query finds.
  package func count(_ query: Query) async throws -> Int {
    let figures = try await aggregate(query.target, [Aggregation(alias: "count", function: .count)])
    guard case .integer(let count)? = figures["count"] else {
      throw RPCStatus(.internal, "The server did not answer the count.")
    }
    return Int(count)
  }
}
