// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreSync
import Synchronization

/// Several writes that are applied locally and committed atomically. The backend accepts at most 10 MiB.
///
/// If an argument is invalid, the commit reports the error.
public final class WriteBatch: DocumentWriter, Sendable {
  private struct State {
    var mutations: [Mutation] = []
    var error: FirestoreError?
    var isCommitted = false
  }

  private let firestore: Firestore
  private let state = Mutex(State())

  init(firestore: Firestore) { self.firestore = firestore }

  /// Adds a write, unless the batch was already committed.
  @discardableResult
  public func add(_ write: DocumentWrite) -> WriteBatch {
    let result = Result { () throws(FirestoreError) in try write.mutation(in: firestore) }
    state.withLock { state in
      switch result {
      case _ where state.isCommitted:
        state.error = state.error ?? .failedPrecondition("A write batch can no longer be used after commit.")
      case .success(let mutation): state.mutations.append(mutation)
      case .failure(let error): state.error = state.error ?? error
      }
    }
    return self
  }

  // MARK: Committing

  /// Queues the batch to be sent; see `WriteHandle`.
  /// - Parameter options: the write's deadline, and whether it fails while offline.
  /// - Throws: `invalidArgument` if an argument of the batch is invalid; `failedPrecondition` if the batch was already
  ///   committed.
  @discardableResult
  public func enqueue(options: WriteOptions = WriteOptions()) throws -> WriteHandle {
    try firestore.submit(try take(), options)
  }

  /// Queues the batch to be sent.
  /// - Parameter completion: called when the backend has committed or rejected the batch. While offline, it is not
  ///   called.
  public func commit(completion: (@Sendable ((any Error)?) -> Void)? = nil) {
    firestore.submit({ () throws(FirestoreError) in try take() }, completion: completion)
  }

  /// Commits the batch. Returns when the backend has committed it. Waits while offline.
  public func commit() async throws { try await submit().acknowledged }

  private func submit() throws(FirestoreError) -> WriteHandle { try firestore.submit(try take()) }

  /// Returns the writes of the batch. Can be called only once; a second call throws.
  func take() throws(FirestoreError) -> [Mutation] {
    let taken = state.withLock { state -> Result<[Mutation], FirestoreError> in
      if state.isCommitted { return .failure(.failedPrecondition("A write batch can only be committed once.")) }
      state.isCommitted = true
      return state.error.map(Result.failure) ?? .success(state.mutations)
    }
    return try taken.get()
  }
}

/// A handle for the two stages of a write: stored locally, and answered by the backend.
///
/// In the official SDKs, awaiting a write means waiting for the backend, so the call does not return while offline.
/// With a handle, you can await only the stage that you need:
/// ```swift
/// let write = try city.enqueueData(["name": "Paris"])
/// try await write.local            // durable here, and visible to listeners
/// try await write.acknowledged     // committed by the backend
/// ```
/// The write is sent even if you do not await its handle.
public struct WriteHandle: Sendable {
  let handle: FirestoreSync.WriteHandle

  /// The write's number in `Firestore.pendingWrites`. Available together with `local`.
  public var id: Int64 {
    get async throws {
      do { return try await handle.local.rawValue } catch { throw FirestoreError(error) }
    }
  }

  /// Returns when the write is stored in the cache and visible to listeners. In a durable cache, the write is then not
  /// lost if the process ends. Throws if the cache cannot store the write. Throws `unavailable` if the client is
  /// offline and ``WriteOptions/failsIfOffline`` is set. In both cases nothing is written.
  public var local: Void {
    get async throws { _ = try await id }
  }

  /// Returns when the backend has committed the write. If the backend rejects the write, throws the rejection after the
  /// local effect is undone. Waits while the client is offline. If the write was not sent before its
  /// ``WriteOptions/deadline``, the write is canceled, and this property throws `deadlineExceeded`.
  public var acknowledged: Void {
    get async throws {
      do { _ = try await handle.acknowledged } catch { throw FirestoreError(error) }
    }
  }
}

/// Conditions for accepting and sending a write.
///
/// ```swift
/// let bid = try auction.enqueueUpdate(["bid": 120], options: WriteOptions(deadline: .seconds(10), failsIfOffline: true))
/// ```
public struct WriteOptions: Hashable, Sendable {
  /// The maximum time until the write is sent; `nil`, the default, for no limit.
  ///
  /// A write that was not sent in time is canceled. Its local effect is undone, and ``WriteHandle/acknowledged`` throws
  /// `deadlineExceeded`. The write does not appear in ``Firestore/rejectedWrites``.
  ///
  /// Once a write was sent, its deadline no longer cancels it, because the backend may have applied it. This is also
  /// true for a write that got no answer and is waiting to be resent. Its handle waits for the answer, however long
  /// that takes.
  ///
  /// The deadline applies only in this process. If a write is still queued when the process ends, the next process that
  /// opens the cache sends it without a deadline.
  public var deadline: Duration?

  /// Whether the write fails while the backend is known to be unreachable; `false` by default.
  ///
  /// If a write fails for this reason, both stages throw `unavailable`, and nothing is written locally either. The
  /// backend is known to be unreachable while the network is disabled, and after a failed attempt to connect. Before
  /// the first attempt, it does not count as unreachable. If the connection is lost after a write was accepted, the
  /// write waits. Use ``deadline`` to limit the wait.
  public var failsIfOffline: Bool

  /// - Parameters:
  ///   - deadline: the maximum time until the write is sent; `nil` for no limit.
  ///   - failsIfOffline: whether the write fails while the backend is known to be unreachable.
  public init(deadline: Duration? = nil, failsIfOffline: Bool = false) {
    self.deadline = deadline
    self.failsIfOffline = failsIfOffline
  }

  var conditions: WriteConditions { WriteConditions(deadline: deadline, failsIfOffline: failsIfOffline) }
}
