// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import FirestorePipelines
import FirestoreQuery

/// The documents that a pipeline is about to read.
package enum PipelineRead: Sendable {
  /// The documents that a query finds.
  case query(ServedQuery)
  /// Documents read by their names, also those that do not exist.
  case documents([Document])
}

/// A check that refuses a pipeline's read by throwing.
package typealias PipelineCheck = @Sendable (PipelineRead, isolated LocalBackend) throws(RPCStatus) -> Void

/// The documents of one database for a pipeline, all of one version.
struct BackendDocuments: DocumentSource {
  let backend: LocalBackend
  let consistency: ReadConsistency
  let database: DatabaseID
  let check: PipelineCheck?

  func open(
    _ selection: DocumentSelection, _ constraints: [Filter]
  ) async throws(RPCStatus) -> any DocumentCursor {
    let query: ServedQuery
    switch selection {
    case .documents(let keys): return NamedDocumentCursor(source: self, rest: keys[...])
    case .collection(let path): query = ServedQuery(Self.target(path))
    case .collectionGroup(let id): query = ServedQuery(Self.target(.root, group: id))
    case .database: query = ServedQuery(Self.target(.root), scope: .descendants)
    }
    if let check {
      var asked = query
      asked.target.filters = constraints
      try await check(.query(asked), backend)
    }
    return ScannedDocumentCursor(
      backend: backend, next: try await backend.open(ReadRequest(query, consistency, in: database)))
  }

  private static func target(_ path: ResourcePath, group: String? = nil) -> Target {
    Target(
      path: path, collectionGroup: group, filters: [], orderBy: [OrderBy(.documentID)], limit: nil, start: nil,
      end: nil)
  }
}

private struct ScannedDocumentCursor: DocumentCursor {
  let backend: LocalBackend
  var next: QueryCursor?

  mutating func next() async throws(RPCStatus) -> [Document]? {
    guard let cursor = next else { return nil }
    let (piece, rest) = try await backend.read(cursor)
    next = rest
    return piece.documents
  }
}

private struct NamedDocumentCursor: DocumentCursor {
  private static let mostAtOnce = 100

  let source: BackendDocuments
  var rest: ArraySlice<DocumentKey>
  /// The number of documents read at once: about as many as fill a piece of a query's result, judged by the last ones.
  private var slice = 4

  init(source: BackendDocuments, rest: ArraySlice<DocumentKey>) {
    self.source = source
    self.rest = rest
  }

  mutating func next() async throws(RPCStatus) -> [Document]? {
    if rest.isEmpty { return nil }
    let keys = rest.prefix(slice)
    rest = rest.dropFirst(slice)
    let (documents, _) = try await source.backend.documents(Array(keys), source.consistency, in: source.database)
    if let check = source.check { try await check(.documents(documents), source.backend) }
    let usual = documents.reduce(1) { $0 + $1.storedSize } / keys.count + 1
    slice = max(1, min(Self.mostAtOnce, QueryPiece.bytes / usual))
    return documents.filter(\.exists)
  }
}
