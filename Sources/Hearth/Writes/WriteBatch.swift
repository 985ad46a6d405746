// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import Synchronization

/// Writes that are made and committed together or not at all. The backend takes 10 MiB at once.
///
/// A wrong argument is reported by the commit.
public final class WriteBatch: Sendable {
  private struct State {
    var mutations: [Mutation] = []
    var error: FirestoreError?
    var isCommitted = false
  }

  private let firestore: Firestore
  private let state = Mutex(State())

  init(firestore: Firestore) { self.firestore = firestore }

  /// Replaces the document.
  @discardableResult
  public func setData(_ data: [String: Any], forDocument document: DocumentReference) -> WriteBatch {
    add(document) { () throws(FirestoreError) in try document.setMutation(data) }
  }

  /// - Parameter merge: whether fields that the data does not name are kept.
  @discardableResult
  public func setData(_ data: [String: Any], forDocument document: DocumentReference, merge: Bool) -> WriteBatch {
    add(document) { () throws(FirestoreError) in
      try merge ? document.mergeMutation(data) : document.setMutation(data)
    }
  }

  /// - Parameter mergeFields: the only fields to write (strings or `FieldPath`s); each must be in the data.
  @discardableResult
  public func setData(
    _ data: [String: Any], forDocument document: DocumentReference, mergeFields: [Any]
  ) -> WriteBatch {
    add(document) { () throws(FirestoreError) in try document.mergeMutation(data, only: mergeFields) }
  }

  /// Changes fields of a document that exists.
  /// - Parameter fields: keys are strings, in which dots lead into maps, or `FieldPath`s.
  @discardableResult
  public func updateData(_ fields: [AnyHashable: Any], forDocument document: DocumentReference) -> WriteBatch {
    add(document) { () throws(FirestoreError) in try document.updateMutation(fields) }
  }

  @discardableResult
  public func deleteDocument(_ document: DocumentReference) -> WriteBatch {
    add(document) { () throws(FirestoreError) in try document.deleteMutation() }
  }

  private func add(
    _ document: DocumentReference, _ mutation: () throws(FirestoreError) -> Mutation
  ) -> WriteBatch {
    let result = Result { () throws(FirestoreError) in
      _ = try firestore.key(of: document)
      let mutation = try mutation()
      return mutation
    }
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
