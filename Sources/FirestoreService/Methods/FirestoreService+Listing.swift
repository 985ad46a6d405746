// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery

extension FirestoreService {
  /// The page size when none is given, and the largest.
  private static let maximumPageSize = 300

  func listDocuments(_ bytes: [UInt8]) async throws(RPCStatus) -> [UInt8] {
    var request = ListDocumentsRequest()
    try RequestReader.read(bytes) { reader throws(RPCStatus) in try request.read(&reader) }
    let (database, parent) = try ResourceName.parent(request.parent)
    if request.pageSize < 0 { throw RPCStatus(.invalidArgument, "Page size must be nonnegative.") }
    let orderBy = try request.orderings()
    if request.showMissing, !orderBy.isEmpty {
      throw RPCStatus(.invalidArgument, "cannot specify an order when show_missing is true")
    }
    var query = RequestedQuery()
    query.selectors = [RequestedQuery.Selector(collectionID: request.collectionID)]
    query.orderBy = orderBy
    let limit = request.pageSize == 0 ? Self.maximumPageSize : min(request.pageSize, Self.maximumPageSize)
    query.limit = limit
    var served = try query.served(below: parent, in: database)
    let after = try request.position(orderings: served.target.orderBy.count)
    served.target.start = after
    let (read, _) = try await begin(request.consistency, in: database)
    var documents = try await backend.run(served, read, in: database).documents
    if request.showMissing, !request.collectionID.isEmpty {
      let collection = parent.appending(request.collectionID)
      documents = try await addingMissing(to: documents, of: collection, after, limit, read, in: database)
    }
    let last = documents.count == limit ? documents.last : nil
    let token = last.map { PageToken(after: $0, served.target.orderBy, database) }
    let page = DocumentPage(documents: documents, nextPageToken: token?.text ?? "")
    return message { $0.listDocumentsResponse(page, DocumentNames(database), mask: request.mask) }
  }

  /// Puts documents that do not exist but have documents below them among the others, in key order.
  private func addingMissing(
    to documents: [Document], of collection: ResourcePath, _ after: Bound?, _ limit: Int, _ read: ReadConsistency,
    in database: DatabaseID
  ) async throws(RPCStatus) -> [Document] {
    var parents = try await backend.parents(in: collection, read, in: database)
    if case .reference(_, let key)? = after?.values.first { parents.removeAll { $0 <= key } }
    if documents.count == limit, let last = documents.last { parents.removeAll { $0 > last.key } }
    var missing = try await backend.documents(parents, read, in: database).documents.filter { !$0.exists }
    // They have a name and nothing else.
    for index in missing.indices { missing[index].version = nil }
    return Array((documents + missing).sorted { $0.key < $1.key }.prefix(limit))
  }

  func listCollectionIDs(_ bytes: [UInt8]) async throws(RPCStatus) -> [UInt8] {
    var (name, pageSize, token) = ("", Int64(0), "")
    var consistency = RequestedConsistency.latest
    try RequestReader.read(bytes) { reader throws(RPCStatus) in
      try reader.fields { number, field throws(RPCStatus) in
        switch number {
        case 1: name = try field.string() ?? name
        case 2: pageSize = try field.integer() ?? pageSize
        case 3: token = try field.string() ?? token
        case 4: if let time = try field.timestamp() { consistency = .readTime(time) }
        default: break
        }
      }
    }
    let (database, parent) = try ResourceName.parent(name)
    if pageSize < 0 { throw RPCStatus(.invalidArgument, "Page size must be nonnegative.") }
    let (read, _) = try await begin(consistency, in: database)
    var ids = try await backend.collectionIDs(below: parent, read, in: database)
    if !token.isEmpty {
      guard let bytes = Hexadecimal.bytes(token) else { throw RPCStatus(.invalidArgument, "invalid page token") }
      ids.removeAll { id in !bytes.lexicographicallyPrecedes(id.utf8) }
    }
    var page = CollectionIDPage(ids: pageSize == 0 ? ids : Array(ids.prefix(Int(clamping: pageSize))))
    if page.ids.count < ids.count, let last = page.ids.last {
      page.nextPageToken = Hexadecimal.text(Array(last.utf8))
    }
    return message { $0.listCollectionIDsResponse(page) }
  }
}
