// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreProtocol
package import FirestoreQuery

/// A query's result from the server, page by page, so that only one page is in memory. A limit from the end is one
/// page.
package struct DocumentPages {
  /// The size of a page in key order, whose cost grows with its content only.
  private static let pageSize = 1000
  /// The size of a page in any other order: the embedded backend looks at the whole collection for each of them.
  private static let orderedPageSize = 20_000

  private let datastore: any Datastore
  private let database: DatabaseID
  private let pageSize: Int
  private let view: ReadView
  /// Whether the query has a limit from the end, which is read in reverse as a limit from the beginning.
  private let isBackwards: Bool
  private var query: Query
  private var remaining: Int?
  private var isFinished = false

  /// - Parameter projection: the fields to read, beside those of the order; `nil` for all.
  package init(
    of query: Query, at datastore: any Datastore, _ database: DatabaseID, projection: FieldMask? = nil
  ) {
    self.datastore = datastore
    self.database = database
    isBackwards = query.limitType == .last
    self.query = query.target.query
    remaining = query.limit
    pageSize = query.orderBy[0].path.isDocumentID ? Self.pageSize : Self.orderedPageSize
    let order = query.orderBy.map(\.path).filter { !$0.isDocumentID }
    view = ReadView(projection: projection.map { FieldMask(outermost: $0.paths.union(order)) })
  }

  /// Skips documents. Must be called before `next`.
  package mutating func drop(_ count: Int) async throws(RPCStatus) {
    if count == 0 { return }
    guard let key = try await datastore.key(at: count, of: query.target) else {
      isFinished = true
      return
    }
    guard let first = try await datastore.lookup([key], view).first, first.exists else {
      throw RPCStatus(.aborted, "\(key) was deleted while the documents before it were counted. Try again.")
    }
    query.start = Bound(values: position(of: first), isInclusive: true)
  }

  /// - Returns: the next documents, in order; `nil` after the last.
  package mutating func next() async throws(RPCStatus) -> [Document]? {
    guard isBackwards else { return try await nextPage() }
    var documents: [Document] = []
    while let page = try await nextPage() { documents += page }
    return documents.isEmpty ? nil : documents.reversed()
  }

  private mutating func nextPage() async throws(RPCStatus) -> [Document]? {
    if isFinished { return nil }
    let size = min(remaining ?? pageSize, pageSize)
    query.limit = size
    let page = try await datastore.runQuery(query.target, view)
    remaining = remaining.map { $0 - page.count }
    isFinished = page.count < size || remaining == 0
    if let last = page.last { query.start = Bound(values: position(of: last), isInclusive: false) }
    return page.isEmpty ? nil : page
  }

  private func position(of document: Document) -> [Value] {
    query.orderBy.map { order in
      order.path.isDocumentID ? .reference(database, document.key) : document.data?[order.path] ?? .null
    }
  }
}

extension FieldMask {
  /// Makes a mask without paths inside of others, which are covered already.
  package init(outermost paths: Set<FieldPath>) {
    self.init(paths.filter { path in !paths.contains { $0 != path && $0.isPrefix(of: path) } })
  }
}
