// SPDX-License-Identifier: Apache-2.0
import Dispatch
import FirestoreModel
import FirestoreSync
public import Foundation
import Synchronization

/// The transaction that `Firestore.runTransaction` passes to its block. You can use it until the block returns.
///
/// All reads must precede all writes. If a write has an invalid argument, the transaction fails when the block returns.
public final class Transaction: DocumentWriter, Sendable {
  private let firestore: Firestore
  private let client: Client
  /// The number that identifies the transaction in the client's queue of transactions (`transactionTurns`).
  private let number: UInt64
  private let state = Mutex(OptimisticTransaction())

  init(firestore: Firestore, client: Client, number: UInt64) {
    self.firestore = firestore
    self.client = client
    self.number = number
  }

  // MARK: Reading

  /// Reads a document from the backend, and blocks the calling thread until the document arrives. For transaction
  /// blocks that are not `async`.
  /// - Throws: `invalidArgument` after a write; `aborted` if the document has changed since this transaction first read
  ///   it; the backend's error. A missing document is not an error.
  public func getDocument(_ document: DocumentReference) throws -> any DocumentSnapshot {
    let answer = BlockingAnswer<any DocumentSnapshot>()
    let isStarted = client.callbackTasks.start { [self] in
      answer.give(await Result { () async throws(FirestoreError) in try await read(document) })
    }
    if !isStarted { throw FirestoreError.terminated }
    return try answer.wait()
  }

  /// Reads a document from the backend.
  /// - Throws: the same errors as the blocking `getDocument(_:)`.
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

  /// Adds a write, which is committed if the block succeeds.
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
/// This type is a class, as in the official SDK, so that `let options = TransactionOptions(); options.maxAttempts = …`
/// compiles.
public final class TransactionOptions: Sendable {
  private let attempts = Mutex(TransactionRetries.defaultAttempts)

  /// Creates options with five attempts, as in the SDK.
  public init() {}

  /// The maximum number of times that the block runs; 5 by default. With a number outside of 1…`Int32.max`, the
  /// transaction fails with `invalidArgument`.
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
  /// Whether both options allow the same number of attempts.
  public static func == (left: TransactionOptions, right: TransactionOptions) -> Bool {
    left.maxAttempts == right.maxAttempts
  }

  /// Hashes the number of attempts.
  public func hash(into hasher: inout Hasher) { hasher.combine(maxAttempts) }
}

#if !canImport(ObjectiveC)
  /// A pointer through which a transaction's block can return an error, as on Apple platforms.
  public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?
#endif

// A transaction reads from the backend and commits if no document that it read has changed meanwhile. Otherwise the
// block runs again after a delay, up to `TransactionOptions.maxAttempts` times. If another transaction of this client
// has changed the document, the block runs again without a delay, when it is its turn. A transaction needs the backend:
// while the network is disabled, it fails immediately with `unavailable`. Listeners receive its writes when the backend
// reports them.
//
// A block that ends with a temporary `FirestoreError` (such as `aborted`) runs again. Any other error ends the
// transaction and is thrown to the caller.

extension Firestore {
  // MARK: With a suspending block

  /// Runs a transaction.
  /// - Parameter body: the transaction's block, which may run several times.
  /// - Returns: the value that the block returned in the committed attempt.
  @discardableResult
  public func runTransaction<Success: Sendable>(
    with options: TransactionOptions? = nil, _ body: @escaping @Sendable (Transaction) async throws -> Success
  ) async throws -> Success {
    var retries = TransactionRetries(attempts: try (options ?? TransactionOptions()).checkedAttempts())
    var random = app.backend.surroundings.random
    let client = try client()
    let turns = client.transactionTurns
    let number = turns.begin()
    var isCommitted = false
    defer { turns.end(number, isCommitted: isCommitted) }
    var overtaken: Set<DocumentKey>?
    while true {
      do { try await client.engine.requireNetwork() } catch { throw FirestoreError(error) }
      let delay = retries.begin(using: &random)
      if let overtaken {
        await turns.turn(number, overtaken)
        try Task.checkCancellation()
      } else if delay > .zero {
        try await client.engine.clock.sleep(for: delay)
      }
      let transaction = Transaction(firestore: self, client: client, number: number)
      do {
        let enclosing = TransactionQueue.enclosing.union([number])
        let result = try await TransactionQueue.$enclosing.withValue(enclosing) { try await attempt(transaction, body) }
        try await transaction.commit()
        isCommitted = true
        return result
      } catch {
        guard let code = Self.code(of: error), retries.allowsAttempt(after: code) else { throw error }
        overtaken = code.isConflict ? turns.fails(number) : nil
        if overtaken == nil { turns.end(number, isCommitted: false) }
      }
    }
  }

  private func attempt<Success: Sendable>(
    _ transaction: Transaction, _ body: @Sendable (Transaction) async throws -> Success
  ) async throws -> Success {
    do {
      return try await body(transaction)
    } catch {
      transaction.abandon()
      throw error
    }
  }

  /// The code of a Firestore error, even if it was converted to an `NSError` and back.
  private static func code(of error: any Error) -> StatusCode? {
    (error as? FirestoreError).flatMap { StatusCode(rawValue: $0.code.rawValue) }
  }

  // MARK: With the SDK's block

  /// Runs a transaction.
  /// - Parameter updateBlock: the transaction's block, which may run several times. It runs on a separate queue, where
  ///   it may block. If the block sets the error pointer, the attempt ends.
  /// - Returns: the value that the block returned in the committed attempt.
  @discardableResult
  public func runTransaction(
    _ updateBlock: @escaping @Sendable (Transaction, NSErrorPointer) -> sending Any?
  ) async throws -> sending Any? {
    try await runTransaction(with: nil, block: updateBlock)
  }

  /// Runs a transaction with options.
  /// - Parameter options: the maximum number of attempts; `nil` for five.
  @discardableResult
  public func runTransaction(
    with options: TransactionOptions?,
    block updateBlock: @escaping @Sendable (Transaction, NSErrorPointer) -> sending Any?
  ) async throws -> sending Any? {
    try await runTransaction(with: options) { transaction in
      try await Self.run(updateBlock, with: transaction)
    }.take()
  }

  /// Starts a transaction and returns immediately.
  /// - Parameter completion: called with the value that the block returned in the committed attempt, or with the error.
  public func runTransaction(
    _ updateBlock: @escaping @Sendable (Transaction, NSErrorPointer) -> sending Any?,
    completion: @escaping @Sendable (Any?, (any Error)?) -> Void
  ) {
    runTransaction(with: nil, block: updateBlock, completion: completion)
  }

  /// Starts a transaction with options and returns immediately.
  /// - Parameters:
  ///   - options: the maximum number of attempts; `nil` for five.
  ///   - completion: called with the value that the block returned in the committed attempt, or with the error.
  public func runTransaction(
    with options: TransactionOptions?,
    block updateBlock: @escaping @Sendable (Transaction, NSErrorPointer) -> sending Any?,
    completion: @escaping @Sendable (Any?, (any Error)?) -> Void
  ) {
    complete({ (result: BlockResult?, error) in completion(result?.take(), error) }) { [self] in
      try await runTransaction(with: options) { transaction in
        try await Self.run(updateBlock, with: transaction)
      }
    }
  }

  /// The queue on which transaction blocks run. Reads in a block may block the thread, which is not allowed on the
  /// threads of Swift's concurrency runtime.
  private static let blockQueue = DispatchQueue(label: "hearth.transactions", attributes: .concurrent)

  private static func run(
    _ block: @escaping @Sendable (Transaction, NSErrorPointer) -> sending Any?, with transaction: Transaction
  ) async throws -> BlockResult {
    try await withCheckedThrowingContinuation { continuation in
      blockQueue.async {
        var error: NSError?
        let result = BlockResult(withUnsafeMutablePointer(to: &error) { block(transaction, $0) })
        if let error { continuation.resume(throwing: error) } else { continuation.resume(returning: result) }
      }
    }
  }
}

/// A result that a thread waits for. The creator of this object must always provide a result.
final class BlockingAnswer<Success: Sendable>: Sendable {
  private let result = Mutex<Result<Success, FirestoreError>?>(nil)
  private let isThere = DispatchSemaphore(value: 0)

  func give(_ answer: Result<Success, FirestoreError>) {
    result.withLock { $0 = answer }
    isThere.signal()
  }

  /// Blocks the thread until the result is available. Call it once.
  func wait() throws(FirestoreError) -> Success {
    isThere.wait()
    guard let answer = result.withLock({ $0 }) else { throw .terminated }
    return try answer.get()
  }
}

extension Result {
  /// Runs an asynchronous operation and stores its outcome.
  init(_ operation: () async throws(Failure) -> Success) async {
    do { self = .success(try await operation()) } catch { self = .failure(error) }
  }
}

/// Passes the result of a transaction block from the block's thread to the caller, once.
final class BlockResult: Sendable {
  private let value: Mutex<Any?>

  init(_ value: sending Any?) { self.value = Mutex(value) }

  func take() -> sending Any? { value.withLock { $0.take() } }
}
