// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import FirestoreProtocol
import FirestoreTesting
import Synchronization

/// The commits of one cache, and the violations that were seen meanwhile.
final class CommitBook: Sendable {
  private let commits = Mutex<[BatchID: SnapshotVersion]>([:])
  private let violations = Mutex<[Violation]>([])

  var violation: Violation? { violations.withLock { $0.first } }

  func note(_ batch: BatchID, _ version: SnapshotVersion) { commits.withLock { $0[batch] = version } }
  func note(_ violation: Violation) { violations.withLock { $0.append(violation) } }
  func version(of batch: BatchID) -> SnapshotVersion? { commits.withLock { $0[batch] } }
}

/// The way from an engine to the observed backend: its commits are compared with the model.
struct ObservedDatastore: DatastoreWrapper {
  let backend: LocalBackend
  let server: ObservedBackend
  let book: CommitBook

  var base: any Datastore { InProcessDatastore(backend: backend, database: server.database) }

  func write(
    requests: StreamRequests<WriteRequest>, deliver: @Sendable (WriteEvent) async -> Void
  ) async throws(RPCStatus) {
    await deliver(.opened(streamToken: [0]))
    for await request in requests {
      let response = try await commit(request.mutations, request.requestID)
      if let batch = request.requestID?.batchID { book.note(batch, response.commitTime) }
      if Task.isCancelled { break }
      await deliver(.committed(streamToken: [1], response))
    }
    if Task.isCancelled { throw RPCStatus(.cancelled, "The write stream was cancelled.") }
  }

  private func commit(_ mutations: [Mutation], _ request: WriteRequestID?) async throws(RPCStatus) -> CommitResponse {
    // Everything is refused once there is a violation, so that the run comes to its end.
    if book.violation != nil { throw RPCStatus(.dataLoss, "The backend has gone wrong.") }
    do {
      return try await server.commit(mutations, request: request, on: backend)
    } catch let status as RPCStatus {
      throw status
    } catch {
      book.note(error as? Violation ?? Violation(description: "\(error)"))
      throw RPCStatus(.dataLoss, "The backend has gone wrong.")
    }
  }

  func commit(_ mutations: [Mutation]) async throws(RPCStatus) -> CommitResponse { try await commit(mutations, nil) }
}
