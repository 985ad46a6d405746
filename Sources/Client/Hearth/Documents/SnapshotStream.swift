// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreSync

/// A listener for a consumer that requests each snapshot. It listens as long as this object exists: an
/// `AsyncThrowingStream` releases it when its consumer ends or is canceled.
final class SnapshotSource: Sendable {
  private let mailbox: SnapshotMailbox
  private let engine: SyncEngine
  private let id: ListenerID

  /// Starts the listener.
  /// - Parameter capacity: the number of unread snapshots before merging.
  init(engine: SyncEngine, query: FirestoreQuery.Query, options: ListenerOptions, capacity: Int = 1) {
    self.engine = engine
    mailbox = SnapshotMailbox(capacity: capacity)
    id = engine.listen(to: query, options: options, into: mailbox)
  }

  /// The next snapshot; `nil` at the end and on cancellation. The mailbox merges snapshots that exceed its capacity.
  nonisolated(nonsending) func next() async throws(FirestoreError) -> ViewSnapshot? {
    switch await mailbox.next() {
    case .snapshot(let view): view
    case .failed(let status): throw FirestoreError(status)
    case nil: nil
    }
  }

  /// The reason why the client is not online; `nil` while online. Without a listener the client would have no reason to
  /// connect.
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
  /// A stream of snapshots. For an invalid argument, the first read throws the error.
  /// - Parameter snapshot: creates the element for a view, or returns `nil` to skip the view.
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

  /// Starts a listener with callbacks. For an invalid argument, the only callback is the error.
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

  /// The first snapshot of a read: in sync with the backend, or from the cache if the client is offline.
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
  /// The error of a read that needed the server: the SDK's text, and the reason for the missing connection.
  static func notRead(_ text: String, _ reason: ConnectionReason?) -> FirestoreError {
    guard let reason, reason.isFailure || reason == .networkDisabled else { return FirestoreError(.unavailable, text) }
    let end = reason.description.hasSuffix(".") ? "" : "."
    return FirestoreError(.unavailable, "\(text) Not connected: \(reason)\(end)")
  }
}
