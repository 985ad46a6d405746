// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestorePipelines
import FirestoreProtocol
import FirestoreQuery
import FirestoreSQLite

/// The results of a pipeline, and their read or commit time.
package struct ExecutedPipeline: Sendable {
  package var results: PipelineResults
  package let time: SnapshotVersion
}

extension LocalBackend {
  /// Starts to execute a pipeline. Its documents are read on demand, all at one version. If the pipeline writes, the
  /// writes are complete when this returns, and the result is the number of written documents.
  /// - Parameters:
  ///   - check: checks each read before documents are read.
  ///   - commitCheck: checks the commit before documents are written.
  /// - Throws: `invalid-argument` for a pipeline that writes at a past time or in a transaction; `aborted` if documents
  ///   that it read have changed before its commit. After an error, nothing is written.
  package nonisolated func execute(
    _ pipeline: Pipeline, _ consistency: ReadConsistency = .latest, in database: DatabaseID,
    check: PipelineCheck? = nil, commitCheck: CommitCheck? = nil
  ) async throws(RPCStatus) -> ExecutedPipeline {
    if let write = pipeline.write {
      guard case .latest = consistency else {
        throw RPCStatus(
          .invalidArgument, "A pipeline that writes cannot run in a transaction or at a past time.")
      }
      return try await execute(pipeline, write, in: database, check, commitCheck)
    }
    let (fixed, time, version) = try await fix(consistency, in: database)
    let documents = BackendDocuments(backend: self, consistency: fixed, database: database, check: check)
    let run = PipelineRun(documents, context(database, time))
    return ExecutedPipeline(results: try await run.results(of: pipeline), time: version)
  }

  private nonisolated func execute(
    _ pipeline: Pipeline, _ write: Pipeline.Write, in database: DatabaseID, _ check: PipelineCheck?,
    _ commitCheck: CommitCheck?
  ) async throws(RPCStatus) -> ExecutedPipeline {
    let id = try await beginTransaction(.readWrite(retrying: nil, concurrency: .optimistic), in: database).bytes
    do throws(RPCStatus) {
      let (fixed, time, _) = try await fix(.transaction(id), in: database)
      let documents = BackendDocuments(backend: self, consistency: fixed, database: database, check: check)
      let run = PipelineRun(documents, context(database, time))
      let mutations = try await run.mutations(of: pipeline, write)
      let response = try await commit(mutations, in: database, transaction: id, check: commitCheck)
      let count: Fields = ["documents_modified": .integer(Int64(mutations.count))]
      return ExecutedPipeline(results: PipelineResults([count]), time: response.commitTime)
    } catch {
      // The transaction has ended either way; the original error matters.
      try? await rollback(id, in: database)
      throw error
    }
  }

  private nonisolated func context(_ database: DatabaseID, _ time: Timestamp) -> EvaluationContext {
    EvaluationContext(database: database, time: time) {
      var generator = SystemRandomNumberGenerator()
      return generator.next()
    }
  }

  /// Chooses one version for all reads. Returns the read consistency that selects it, the current time and the version.
  private func fix(
    _ consistency: ReadConsistency, in database: DatabaseID
  ) throws(RPCStatus) -> (ReadConsistency, now: Timestamp, SnapshotVersion) {
    let version: Int64
    do throws(StoreError) { version = try self.version(of: consistency, in: database) } catch { throw error.status }
    let read = SnapshotVersion(microseconds: version)
    let fixed = if case .transaction = consistency { consistency } else { ReadConsistency.readTime(read.timestamp) }
    return (fixed, log.clock, read)
  }
}

/// The documents that a pipeline is about to read.
package enum PipelineRead: Sendable {
  /// The documents that a query finds.
  case query(ServedQuery)
  /// Documents read by name, including missing ones.
  case documents([Document])
}

/// A check that rejects a pipeline's read by throwing.
package typealias PipelineCheck = @Sendable (PipelineRead, isolated LocalBackend) throws(RPCStatus) -> Void

/// The documents of one database for a pipeline, all at one version.
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
  /// The number of documents to read at once: about one piece of a query's result, estimated from the sizes of the
  /// documents that were read last.
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
