// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestorePipelines
import FirestoreProtocol
import FirestoreSQLite

/// The results of a pipeline, and the time at which they were read or written.
package struct ExecutedPipeline: Sendable {
  package var results: PipelineResults
  package let time: SnapshotVersion
}

extension LocalBackend {
  /// Begins to execute a pipeline: its documents are read as its results are asked for, all at one version. If it
  /// writes, all its writes are done, or none, when this returns; its result is the number of documents.
  /// - Parameters:
  ///   - check: checks each read before documents are read.
  ///   - commitCheck: checks the commit before documents are written.
  /// - Throws: `invalid-argument` for a pipeline that writes as of a time or in a transaction; `aborted` if documents
  ///   that it would write have changed meanwhile.
  package nonisolated func execute(
    _ pipeline: Pipeline, _ consistency: ReadConsistency = .latest, in database: DatabaseID,
    check: PipelineCheck? = nil, commitCheck: CommitCheck? = nil
  ) async throws(RPCStatus) -> ExecutedPipeline {
    if let write = pipeline.write {
      guard case .latest = consistency else {
        throw RPCStatus(
          .invalidArgument, "A pipeline that writes is executed outside of transactions, and at no time of the past.")
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
    let id = try await beginTransaction(.readWrite(retrying: nil), in: database).bytes
    do throws(RPCStatus) {
      let (fixed, time, _) = try await fix(.transaction(id), in: database)
      let documents = BackendDocuments(backend: self, consistency: fixed, database: database, check: check)
      let run = PipelineRun(documents, context(database, time))
      let mutations = try await run.mutations(of: pipeline, write)
      let response = try await commit(mutations, in: database, transaction: id, check: commitCheck)
      let count: Fields = ["documents_modified": .integer(Int64(mutations.count))]
      return ExecutedPipeline(results: PipelineResults([count]), time: response.commitTime)
    } catch {
      // The transaction is over in any case; the cause is the error that matters.
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

  /// A consistency that makes all reads happen at one version; the current time, and that version.
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
