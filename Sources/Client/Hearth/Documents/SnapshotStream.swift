// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreSync

/// A listener whose consumer requests each snapshot. The listener remains active as long as this object exists. An
/// `AsyncThrowingStream` releases the object when the stream's consumer ends or is canceled.
final class SnapshotSource: Sendable {
  private let mailbox: SnapshotMailbox
  private let engine: SyncEngine
  private let id: ListenerID

  /// Starts the listener.
  /// - Parameter capacity: the maximum number of unread snapshots. Beyond it, snapshots are merged.
  init(engine: SyncEngine, query: FirestoreQuery.Query, options: ListenerOptions, capacity: Int = 1) {
    self.engine = engine
    mailbox = SnapshotMailbox(capacity: capacity)
    id = engine.listen(to: query, options: options, into: mailbox)
  }

  /// The next snapshot; `nil` at the end and after cancellation. The mailbox merges snapshots that exceed its capacity.
  nonisolated(nonsending) func next() async throws(FirestoreError) -> ViewSnapshot? {
    switch await mailbox.next() {
    case .snapshot(let view): view
    case .failed(let status): throw FirestoreError(status)
    case nil: nil
    }
  }

  /// The reason why the client is not online; `nil` while the client is online. Call this only while the listener
  /// exists. Without a listener, the client might have no reason to connect.
  nonisolated(nonsending) func connectionReason() async -> ConnectionReason? {
    var status = engine.status(queueEnds: 0).makeAsyncIterator()
    return await status.next()?.reason
  }

  func finish() {
    engine.stopListening(id)
    mailbox.finish()
  }

  deinit { finish() }
}

extension Firestore {
  /// Creates a stream of snapshots. If an argument is invalid, the first read throws the error.
  /// - Parameter snapshot: creates the stream's element from a view's snapshot, or returns `nil` to skip the snapshot.
  func stream<Snapshot: Sendable>(
    of query: Result<FirestoreQuery.Query, FirestoreError>, options: SnapshotListenOptions,
    bufferingPolicy: SnapshotBufferingPolicy, _ snapshot: @escaping @Sendable (ViewSnapshot) throws -> Snapshot?
  ) -> AsyncThrowingStream<Snapshot, any Error> {
    let source = query.flatMap { query in
      Result { () throws(FirestoreError) in
        SnapshotSource(
          engine: try client().engine, query: query, options: options.engineOptions, capacity: bufferingPolicy.capacity)
      }
    }
    return AsyncThrowingStream {
      let source = try source.get()
      while let view = try await source.next() {
        do {
          if let snapshot = try snapshot(view) { return snapshot }
        } catch {
          source.finish()
          throw error
        }
      }
      return nil
    }
  }

  /// Starts a listener with callbacks. If an argument is invalid, the only callback reports the error.
  func listen(
    to query: Result<FirestoreQuery.Query, FirestoreError>, options: SnapshotListenOptions,
    deliver: @escaping @Sendable (Result<ViewSnapshot, FirestoreError>) -> Void
  ) -> any ListenerRegistration {
    let queue = callbackQueue
    do {
      return CallbackListener(
        client: try client(), query: try query.get(), options: options.engineOptions, on: queue, deliver: deliver)
    } catch {
      return RefusedListener(on: queue) { deliver(.failure(error)) }
    }
  }

  /// The first snapshot for a one-time read. It is in sync with the backend, or from the cache if the client is
  /// offline.
  /// - Returns: the snapshot and its listener.
  func firstSnapshot(
    of query: FirestoreQuery.Query, source: ListenerOptions.Source = .default
  ) async throws(FirestoreError) -> (view: ViewSnapshot, listener: SnapshotSource) {
    let options = ListenerOptions(includeMetadataChanges: true, source: source, waitForSyncWhenOnline: true)
    let listener = SnapshotSource(engine: try client().engine, query: query, options: options)
    guard let view = try await listener.next() else {
      throw FirestoreError(.cancelled, "The read was canceled, or the client terminated.")
    }
    return (view, listener)
  }
}

extension FirestoreError {
  /// The error for a read that needed the server: the SDK's message, followed by the reason why there is no connection.
  static func notRead(_ text: String, _ reason: ConnectionReason?) -> FirestoreError {
    guard let reason, reason.isFailure || reason == .networkDisabled else { return FirestoreError(.unavailable, text) }
    let end = reason.description.hasSuffix(".") ? "" : "."
    return FirestoreError(.unavailable, "\(text) Not connected: \(reason)\(end)")
  }
}
