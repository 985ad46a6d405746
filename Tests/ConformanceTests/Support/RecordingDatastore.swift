// SPDX-License-Identifier: Apache-2.0
import ClientTesting
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import Hearth
import Synchronization
import Testing

/// An empty backend that commits every write and keeps what it was asked.
final class RecordingDatastore: Datastore {
  private struct State {
    var commits: [[Mutation]] = []
    var targets: [Target] = []
    var clock: Int64 = 0
  }

  private let state = Mutex(State())

  var commits: [[Mutation]] { state.withLock { $0.commits } }
  /// The targets of listeners; look-ups that the client makes by itself do not count.
  var targets: [Target] { state.withLock { $0.targets } }

  private func nextVersion() -> SnapshotVersion {
    state.withLock { state in
      state.clock += 1
      return SnapshotVersion(microseconds: state.clock)
    }
  }

  func watch(
    requests: StreamRequests<WatchRequest>, deliver: @Sendable (WatchEvent) async -> Void
  ) async throws(RPCStatus) {
    await deliver(.opened)
    for await request in requests {
      switch request {
      case .add(let target):
        if target.purpose == .listen { state.withLock { $0.targets.append(target.target) } }
        await deliver(.changes([.added([target.id])]))
        await deliver(.changes([.current([target.id], nil)]))
        await deliver(.changes([.snapshot(nextVersion(), nil)]))
      case .remove(let id): await deliver(.changes([.removed([id], cause: nil)]))
      }
    }
  }

  func write(
    requests: StreamRequests<WriteRequest>, deliver: @Sendable (WriteEvent) async -> Void
  ) async throws(RPCStatus) {
    await deliver(.opened(streamToken: [1]))
    for await request in requests {
      state.withLock { $0.commits.append(request.mutations) }
      let version = nextVersion()
      let results = request.mutations.map { mutation in
        MutationResult(version: version, transformResults: mutation.transforms.map { _ in .null })
      }
      await deliver(.committed(streamToken: [1], CommitResponse(commitTime: version, results: results)))
    }
  }

  func commit(_ mutations: [Mutation]) async throws(RPCStatus) -> CommitResponse { throw Self.unexpected }
  func read<Read: DatastoreRead>(_ read: Read) async throws(RPCStatus) -> Read.Answer { throw Self.unexpected }
  func visitDescendants(
    _ request: DescendantsRequest, deliver: @escaping @Sendable ([Document]) async -> Bool
  ) async throws(RPCStatus) { throw Self.unexpected }

  private static let unexpected = RPCStatus(.unimplemented, "No call of these tests uses this request.")
}

extension RecordingDatastore {
  /// Makes one call and ends the client, so that everything that it sends has been sent.
  /// - Returns: the error that the call threw.
  func record(_ call: nonisolated(nonsending) (Firestore) async throws -> Void) async throws -> (any Error)? {
    let firestore = Firestore.firestore(
      app: FirestoreApp(
        name: "conformance", projectID: specDatabase.project, backend: .datastore(self, clock: HastyClock())))
    var thrown: (any Error)?
    do { try await call(firestore) } catch { thrown = error }
    try await firestore.terminate()
    return thrown
  }
}

/// Checks that a call that had to fail did so because of its arguments.
func expectRefusal(_ error: (any Error)?, sourceLocation: SourceLocation = #_sourceLocation) {
  #expect((error as? FirestoreError)?.code == .invalidArgument, sourceLocation: sourceLocation)
}
