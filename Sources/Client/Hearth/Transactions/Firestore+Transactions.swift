// SPDX-License-Identifier: Apache-2.0
import Dispatch
import FirestoreModel
import FirestoreSync
public import Foundation
import Synchronization

#if !canImport(ObjectiveC)
  /// The place at which the block of a transaction leaves its error, as on Apple platforms.
  public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?
#endif

// A transaction reads from the backend and commits if no document that it read has changed meanwhile; otherwise the
// block is run again, after a delay, up to `TransactionOptions.maxAttempts` times. If another transaction of this client
// has changed the document, it is run again in turn, without a delay. It needs the backend: while the
// network is disabled it fails at once with `unavailable`. Listeners see its writes when the backend reports them.
//
// A block that ends with a `FirestoreError` that may pass (such as `aborted`) is run again; any other error ends the
// transaction and is thrown to the caller.

extension Firestore {
  // MARK: With a suspending block

  /// Runs a transaction.
  /// - Parameter body: may be run several times.
  /// - Returns: the block's result in the attempt that was committed.
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
        let enclosing = TransactionTurns.enclosing.union([number])
        let result = try await TransactionTurns.$enclosing.withValue(enclosing) { try await attempt(transaction, body) }
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

  /// The code of an error of Firestore, also of one that was an `NSError` in between.
  private static func code(of error: any Error) -> StatusCode? {
    (error as? FirestoreError).flatMap { StatusCode(rawValue: $0.code.rawValue) }
  }

  // MARK: With the SDK's block

  /// Runs a transaction.
  /// - Parameter updateBlock: may be run several times, on a queue of its own, where it may block. An error that it
  ///   leaves in the pointer ends the attempt.
  /// - Returns: the block's result in the attempt that was committed.
  @discardableResult
  public func runTransaction(
    _ updateBlock: @escaping @Sendable (Transaction, NSErrorPointer) -> sending Any?
  ) async throws -> sending Any? {
    try await runTransaction(with: nil, block: updateBlock)
  }

  /// Runs a transaction with options.
  /// - Parameter options: the number of attempts; `nil` for five.
  @discardableResult
  public func runTransaction(
    with options: TransactionOptions?,
    block updateBlock: @escaping @Sendable (Transaction, NSErrorPointer) -> sending Any?
  ) async throws -> sending Any? {
    try await runTransaction(with: options) { transaction in
      try await Self.run(updateBlock, with: transaction)
    }.take()
  }

  /// Starts a transaction and returns at once.
  /// - Parameter completion: called with the block's result in the attempt that was committed, or with the error.
  public func runTransaction(
    _ updateBlock: @escaping @Sendable (Transaction, NSErrorPointer) -> sending Any?,
    completion: @escaping @Sendable (Any?, (any Error)?) -> Void
  ) {
    runTransaction(with: nil, block: updateBlock, completion: completion)
  }

  /// Starts a transaction with options and returns at once.
  /// - Parameters:
  ///   - options: the number of attempts; `nil` for five.
  ///   - completion: called with the block's result in the attempt that was committed, or with the error.
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

  /// The queue for blocks: they wait for their reads, which none of Swift's own threads may do.
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

/// A result that a thread waits for. The holder of this value must give an answer.
final class BlockingAnswer<Success: Sendable>: Sendable {
  private let result = Mutex<Result<Success, FirestoreError>?>(nil)
  private let isThere = DispatchSemaphore(value: 0)

  func give(_ answer: Result<Success, FirestoreError>) {
    result.withLock { $0 = answer }
    isThere.signal()
  }

  /// Blocks the thread until the answer is there. To be called once.
  func wait() throws(FirestoreError) -> Success {
    isThere.wait()
    guard let answer = result.withLock({ $0 }) else { throw .terminated }
    return try answer.get()
  }
}

extension Result {
  /// The result of an operation that suspends.
  init(_ operation: () async throws(Failure) -> Success) async {
    do { self = .success(try await operation()) } catch { self = .failure(error) }
  }
}

/// A block's result on its way from the block's thread to the caller: taken once.
final class BlockResult: Sendable {
  private let value: Mutex<Any?>

  init(_ value: sending Any?) { self.value = Mutex(value) }

  func take() -> sending Any? { value.withLock { $0.take() } }
}
