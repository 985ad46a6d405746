// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
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

  /// Sends the batch on its way; see `WriteHandle`.
  /// - Throws: what was wrong with an argument, or `failedPrecondition` for a second commit.
  public func enqueue() throws -> WriteHandle { try submit() }

  /// - Parameter completion: called when the backend has committed or rejected the batch; not while offline.
  public func commit(completion: (@Sendable ((any Error)?) -> Void)? = nil) {
    firestore.submit({ () throws(FirestoreError) in try take() }, completion: completion)
  }

  /// Returns when the backend has committed the batch; waits while offline.
  public func commit() async throws { try await submit().acknowledged }

  private func submit() throws(FirestoreError) -> WriteHandle { try firestore.submit(try take()) }

  /// What was collected, for the one time that a batch can be committed.
  func take() throws(FirestoreError) -> [Mutation] {
    let taken = state.withLock { state -> Result<[Mutation], FirestoreError> in
      if state.isCommitted { return .failure(.failedPrecondition("A write batch can only be committed once.")) }
      state.isCommitted = true
      return state.error.map(Result.failure) ?? .success(state.mutations)
    }
    return try taken.get()
  }
}
