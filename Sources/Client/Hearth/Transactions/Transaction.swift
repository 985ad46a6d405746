// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreSync
import Synchronization

/// The transaction with which the block of `Firestore.runTransaction` reads and writes. Usable until the block returns.
///
/// All reads come before all writes. A wrong argument of a write fails the transaction when the block has returned.
public final class Transaction: DocumentWriter, Sendable {
  private let firestore: Firestore
  private let client: Client
  /// Its number among the client's `transactionTurns`.
  private let number: UInt64
  private let state = Mutex(OptimisticTransaction())

  init(firestore: Firestore, client: Client, number: UInt64) {
    self.firestore = firestore
    self.client = client
    self.number = number
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
  /// - Throws: the errors of the form that blocks.
  public func getDocument(_ document: DocumentReference) async throws -> any DocumentSnapshot {
    try await read(document)
  }

  private func read(_ document: DocumentReference) async throws(FirestoreError) -> any DocumentSnapshot {
    let key = try firestore.key(of: document)
    do {
      try with { state throws(RPCStatus) in try state.checkReadable() }
      await client.transactionTurns.reads([key], number)
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

  /// Adds a write, which is committed when the block has ended well.
  @discardableResult
  public func add(_ write: DocumentWrite) -> Transaction {
    do throws(FirestoreError) {
      let mutation = try write.mutation(in: firestore)
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
      client.transactionTurns.commits(Set(mutations.filter { $0.operation != .verify }.map(\.key)), number)
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

/// The options of a transaction.
///
/// A class, as in the official SDK, so that `let options = TransactionOptions(); options.maxAttempts = …` compiles.
public final class TransactionOptions: Sendable {
  private let attempts = Mutex(TransactionRetries.defaultAttempts)

  /// Makes options with five attempts, as in the SDK.
  public init() {}

  /// The number of times that the block may be run in all; 5 unless set. A number outside 1…`Int32.max` fails the
  /// transaction with `invalidArgument`.
  public var maxAttempts: Int {
    get { attempts.withLock { $0 } }
    set { attempts.withLock { $0 = newValue } }
  }

  func checkedAttempts() throws(FirestoreError) -> Int {
    let attempts = maxAttempts
    guard (1...Int(Int32.max)).contains(attempts) else {
      throw .invalidArgument("TransactionOptions.maxAttempts must be 1…\(Int32.max), not \(attempts).")
    }
    return attempts
  }
}

extension TransactionOptions: Hashable {
  /// Whether both allow the same number of attempts.
  public static func == (left: TransactionOptions, right: TransactionOptions) -> Bool {
    left.maxAttempts == right.maxAttempts
  }

  /// Hashes the number of attempts.
  public func hash(into hasher: inout Hasher) { hasher.combine(maxAttempts) }
}
