// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreSync
import Synchronization

/// What the block of `Firestore.runTransaction` reads and writes with. Usable until the block returns.
///
/// All reads come before all writes. A wrong argument of a write fails the transaction when the block has returned.
public final class Transaction: Sendable {
  private let firestore: Firestore
  private let client: Client
  private let state = Mutex(OptimisticTransaction())

  init(firestore: Firestore, client: Client) {
    self.firestore = firestore
    self.client = client
  }

  // MARK: Reading

  /// Reads a document from the backend; blocks the calling thread meanwhile. For blocks that are not `async`.
  /// - Throws: `invalidArgument` after a write, `aborted` if the document has changed since this transaction read it
  ///   before, or the backend's error. A document that does not exist is no error.
  public func getDocument(_ document: DocumentReference) throws -> any DocumentSnapshot {
    let answer = BlockingAnswer<any DocumentSnapshot>()
    let isStarted = client.callbackTasks.start { [self] in
      answer.give(await Result { () async throws(FirestoreError) in try await read(document) })
    }
    if !isStarted { throw FirestoreError.terminated }
    return try answer.wait()
  }

  /// Reads a document from the backend.
  /// - Throws: as the form that blocks.
  public func getDocument(_ document: DocumentReference) async throws -> any DocumentSnapshot {
    try await read(document)
  }

  private func read(_ document: DocumentReference) async throws(FirestoreError) -> any DocumentSnapshot {
    let key = try firestore.key(of: document)
    do {
      try with { state throws(RPCStatus) in try state.checkReadable() }
      let documents = try await client.engine.lookup([key])
      try with { state throws(RPCStatus) in try state.note(documents) }
      return SingleDocumentSnapshot(
        content: DocumentContent(
          firestore: firestore, key: key, document: documents.first,
          metadata: SnapshotMetadata(hasPendingWrites: false, isFromCache: false, causes: [])))
    } catch {
      throw FirestoreError(error)
    }
  }

  // MARK: Writing

  /// Replaces the document.
  @discardableResult
  public func setData(_ data: [String: Any], forDocument document: DocumentReference) -> Transaction {
    add(document) { () throws(FirestoreError) in try document.setMutation(data) }
  }

  /// - Parameter merge: whether fields that the data does not name are kept.
  @discardableResult
  public func setData(_ data: [String: Any], forDocument document: DocumentReference, merge: Bool) -> Transaction {
    add(document) { () throws(FirestoreError) in
      try merge ? document.mergeMutation(data) : document.setMutation(data)
    }
  }

  /// - Parameter mergeFields: the only fields to write (strings or `FieldPath`s); each must be in the data.
  @discardableResult
  public func setData(
    _ data: [String: Any], forDocument document: DocumentReference, mergeFields: [Any]
  ) -> Transaction {
    add(document) { () throws(FirestoreError) in try document.mergeMutation(data, only: mergeFields) }
  }

  /// Changes fields of a document that exists.
  /// - Parameter fields: keys are strings, in which dots lead into maps, or `FieldPath`s.
  @discardableResult
  public func updateData(_ fields: [AnyHashable: Any], forDocument document: DocumentReference) -> Transaction {
    add(document) { () throws(FirestoreError) in try document.updateMutation(fields) }
  }

  @discardableResult
  public func deleteDocument(_ document: DocumentReference) -> Transaction {
    add(document) { () throws(FirestoreError) in try document.deleteMutation() }
  }

  private func add(
    _ document: DocumentReference, _ mutation: () throws(FirestoreError) -> Mutation
  ) -> Transaction {
    do throws(FirestoreError) {
      _ = try firestore.key(of: document)
      let mutation = try mutation()
      try firestore.check([mutation])
      state.withLock { $0.write(mutation) }
    } catch {
      state.withLock { $0.fail(RPCStatus(error)) }
    }
    return self
  }

  // MARK: The end of an attempt

  func commit() async throws(FirestoreError) {
    do {
      let mutations = try with { state throws(RPCStatus) in try state.finish() }
      if mutations.isEmpty { return }
      try await client.engine.commitDirectly(mutations)
    } catch {
      throw FirestoreError(error)
    }
  }

  func abandon() { state.withLock { $0.abandon() } }

  private func with<T: Sendable>(
    _ body: (inout OptimisticTransaction) throws(RPCStatus) -> T
  ) throws(RPCStatus) -> T {
    try state.withLock { state in Result { () throws(RPCStatus) in try body(&state) } }.get()
  }
}
