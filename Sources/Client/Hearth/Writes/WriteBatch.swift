// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreSync
import Synchronization

/// Writes that are made and committed together or not at all. The backend takes 10 MiB at once.
///
/// A wrong argument is reported by the commit.
public final class WriteBatch: DocumentWriter, Sendable {
  private struct State {
    var mutations: [Mutation] = []
    var error: FirestoreError?
    var isCommitted = false
  }

  private let firestore: Firestore
  private let state = Mutex(State())

  init(firestore: Firestore) { self.firestore = firestore }

  /// Adds a write, unless the batch was committed.
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
  /// - Parameter options: how long the batch may wait, and whether it is made offline.
  /// - Throws: `invalidArgument` for a wrong argument, or `failedPrecondition` for a second commit.
  @discardableResult
  public func enqueue(options: WriteOptions = WriteOptions()) throws -> WriteHandle {
    try firestore.submit(try take(), options)
  }

  /// Queues the batch to be sent.
  /// - Parameter completion: called when the backend has committed or rejected the batch; not while offline.
  public func commit(completion: (@Sendable ((any Error)?) -> Void)? = nil) {
    firestore.submit({ () throws(FirestoreError) in try take() }, completion: completion)
  }

  /// Commits the batch. Returns when the backend has committed it; waits while offline.
  public func commit() async throws { try await submit().acknowledged }

  private func submit() throws(FirestoreError) -> WriteHandle { try firestore.submit(try take()) }

  /// The writes of the batch, which can be taken only once.
  func take() throws(FirestoreError) -> [Mutation] {
    let taken = state.withLock { state -> Result<[Mutation], FirestoreError> in
      if state.isCommitted { return .failure(.failedPrecondition("A write batch can only be committed once.")) }
      state.isCommitted = true
      return state.error.map(Result.failure) ?? .success(state.mutations)
    }
    return try taken.get()
  }
}

/// Both stages of a write.
///
/// Awaiting a write means awaiting the backend in every official SDK, which while offline is forever. With a handle a
/// caller awaits the stage that it needs:
/// ```swift
/// let write = try city.enqueueData(["name": "Paris"])
/// try await write.local            // durable here, and visible to listeners
/// try await write.acknowledged     // committed by the backend
/// ```
/// The write is sent whether or not its handle is awaited.
public struct WriteHandle: Sendable {
  let handle: FirestoreSync.WriteHandle

  /// The write's number in `Firestore.pendingWrites`; available together with `local`.
  public var id: Int64 {
    get async throws {
      do { return try await handle.local.rawValue } catch { throw FirestoreError(error) }
    }
  }

  /// Returns once the write survives the process (with a durable cache) and is visible to listeners. Throws if the
  /// cache cannot store the write, or with `unavailable` for one that is not to be made offline
  /// (``WriteOptions/failsIfOffline``); then nothing was written.
  public var local: Void {
    get async throws { _ = try await id }
  }

  /// Returns when the backend has committed the write; throws its rejection, after which the local change is undone.
  /// Waits while the client is offline; a write that was not sent before its ``WriteOptions/deadline`` is taken back, and
  /// this throws `deadlineExceeded`.
  public var acknowledged: Void {
    get async throws {
      do { _ = try await handle.acknowledged } catch { throw FirestoreError(error) }
    }
  }
}

/// The conditions under which a write is made and sent.
///
/// ```swift
/// let bid = try auction.enqueueUpdate(["bid": 120], options: WriteOptions(deadline: .seconds(10), failsIfOffline: true))
/// ```
public struct WriteOptions: Hashable, Sendable {
  /// The time that the write may wait to be sent; `nil`, the default, for as long as it takes.
  ///
  /// A write that was not sent when its time is over is taken back: its local change is undone,
  /// ``WriteHandle/acknowledged`` fails with `deadlineExceeded`, and it is not among ``Firestore/rejectedWrites``.
  ///
  /// A write that was sent is not taken back, also if its answer does not come and it waits to be sent again: the
  /// backend may have applied it. Its handle waits for the answer, however long that takes.
  ///
  /// The deadline belongs to this process. A write that is still queued when the process ends is sent by the next one,
  /// without a deadline.
  public var deadline: Duration?

  /// Whether the write is refused while the backend is known to be out of reach; `false` is the default.
  ///
  /// Both stages of a refused write fail with `unavailable`, and nothing is written here either. The backend is known
  /// to be out of reach while the network is disabled, and after an attempt to reach it has failed; not before the
  /// first attempt. A write that is accepted waits if the backend is lost afterwards: a ``deadline`` bounds that.
  public var failsIfOffline: Bool

  /// - Parameters:
  ///   - deadline: the time that the write may wait to be sent.
  ///   - failsIfOffline: whether the write is refused while the backend is known to be out of reach.
  public init(deadline: Duration? = nil, failsIfOffline: Bool = false) {
    self.deadline = deadline
    self.failsIfOffline = failsIfOffline
  }

  var conditions: WriteConditions { WriteConditions(deadline: deadline, failsIfOffline: failsIfOffline) }
}
