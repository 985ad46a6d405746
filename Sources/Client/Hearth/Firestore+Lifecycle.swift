// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
import FirestoreModel
import FirestoreSQLite
import FirestoreSync

extension Firestore {
  /// Stops all activity and closes the cache. Listeners get no more callbacks. Sequences of snapshots and running calls
  /// fail with `failedPrecondition`, and so do later calls on this instance, except `clearPersistence()`. Pending
  /// writes remain in a durable cache, and the next client sends them. After this call, `Firestore.firestore(…)`
  /// returns a new instance.
  public func terminate() async throws {
    await markTerminated()?.terminate()
    forget()
  }

  /// Starts `terminate()` and returns immediately.
  /// - Parameter completion: called on `FirestoreSettings.dispatchQueue` when the cache is closed.
  public func terminate(completion: (@Sendable ((any Error)?) -> Void)? = nil) {
    completeLifecycle(completion) { [self] in try await terminate() }
  }

  /// Deletes the durable cache with all its files, including pending writes. You can call this function only before the
  /// first use or after `terminate()`. It also closes other clients that share the cache. Their later calls fail with
  /// `failedPrecondition`.
  /// - Throws: `failedPrecondition` while this client runs, or if another client or process has exclusive use of the
  ///   cache.
  public func clearPersistence() async throws {
    if isOpen {
      throw FirestoreError.failedPrecondition("Persistence cannot be cleared while the client is running.")
    }
    let backend = app.backend.resolved(settings)
    guard let directory = cacheDirectory(for: backend) else { return }
    do throws(StoreError) {
      try await LocalStore.eraseShared(directory, clock: app.backend.clock)
    } catch {
      throw FirestoreError(FirestoreError.Code(error.code), error.message)
    }
  }

  /// Starts `clearPersistence()` and returns immediately.
  /// - Parameter completion: called on `FirestoreSettings.dispatchQueue` when the files are deleted, or with the error.
  public func clearPersistence(completion: (@Sendable ((any Error)?) -> Void)? = nil) {
    completeLifecycle(completion) { [self] in try await clearPersistence() }
  }

  /// Calls a completion with the result of an operation that does not need an open client.
  private func completeLifecycle(
    _ completion: (@Sendable ((any Error)?) -> Void)?, _ operation: @escaping @Sendable () async throws -> Void
  ) {
    let queue = callbackQueue
    lifecycleTasks.start {
      var failure: (any Error)?
      do { try await operation() } catch { failure = error }
      if let completion { await queue.perform { [failure] in completion(failure) } }
    }
  }
}

extension Firestore {
  /// Takes the client offline: listeners and reads use the cache, and writes wait in the queue. When the call returns,
  /// the client no longer sends or receives anything. Other clients that share the cache are not affected. If one of
  /// them has the connection, it still sends the queued writes, and listeners show the data that it receives.
  public func disableNetwork() async throws { await (try client()).engine.disableNetwork() }

  /// Starts `disableNetwork()` and returns immediately.
  /// - Parameter completion: called on `FirestoreSettings.dispatchQueue` when the client no longer sends or receives
  ///   anything.
  public func disableNetwork(completion: (@Sendable ((any Error)?) -> Void)? = nil) {
    complete(completion) { [self] in try await disableNetwork() }
  }

  /// Lets the client use the network again, and sends pending writes.
  public func enableNetwork() async throws { await (try client()).engine.enableNetwork() }

  /// Starts `enableNetwork()` and returns immediately.
  /// - Parameter completion: called on `FirestoreSettings.dispatchQueue` when the client may use the network.
  public func enableNetwork(completion: (@Sendable ((any Error)?) -> Void)? = nil) {
    complete(completion) { [self] in try await enableNetwork() }
  }

  /// Returns when the backend has acknowledged or rejected every write that was made before the call.
  /// - Throws: `cancelled` if the user changes meanwhile.
  public func waitForPendingWrites() async throws {
    try await ask { engine throws(RPCStatus) in try await engine.waitForPendingWrites() }
  }

  /// Starts `waitForPendingWrites()` and returns immediately.
  /// - Parameter completion: called on `FirestoreSettings.dispatchQueue` when the backend has answered all writes, or
  ///   with the error.
  public func waitForPendingWrites(completion: @escaping @Sendable ((any Error)?) -> Void) {
    complete(completion) { [self] in try await waitForPendingWrites() }
  }
}

extension Firestore {
  /// Adds writes to the queue, in the order of the calls.
  func submit(
    _ mutations: [Mutation], _ options: WriteOptions = WriteOptions()
  ) throws(FirestoreError) -> WriteHandle {
    WriteHandle(handle: try checkedClient(for: mutations).engine.write(mutations, options.conditions))
  }

  /// Adds writes to the queue, in the order of the calls. Calls the completion when the backend has answered, or with
  /// the error if the writes could not be queued. Completions and listeners use the same serial queue, so the
  /// completion is called before listeners receive snapshots that contain the result (S3).
  func submit(
    _ mutations: () throws(FirestoreError) -> [Mutation], completion: (@Sendable ((any Error)?) -> Void)?
  ) {
    let queue = callbackQueue
    do throws(FirestoreError) {
      let mutations = try mutations()
      _ = try checkedClient(for: mutations).engine.write(mutations) { result in
        guard let completion else { return }
        queue.async {
          switch result {
          case .success: completion(nil)
          case .failure(let status): completion(FirestoreError(status))
          }
        }
      }
    } catch {
      if let completion { queue.async { completion(error) } }
    }
  }

  private func checkedClient(for mutations: [Mutation]) throws(FirestoreError) -> Client {
    let client = try client()
    try check(mutations)
    return client
  }

  /// Calls a completion with the result of an operation.
  func complete(
    _ completion: (@Sendable ((any Error)?) -> Void)?, _ operation: @escaping @Sendable () async throws -> Void
  ) {
    complete({ _, error in completion?(error) }, operation)
  }

  func complete<Value: Sendable>(
    _ completion: @escaping @Sendable (Value?, (any Error)?) -> Void,
    _ operation: @escaping @Sendable () async throws -> Value
  ) {
    let queue = callbackQueue
    do throws(FirestoreError) {
      let isStarted = try client().callbackTasks.start {
        do {
          let value = try await operation()
          await queue.perform { completion(value, nil) }
        } catch {
          await queue.perform { completion(nil, error) }
        }
      }
      if !isStarted { throw .terminated }
    } catch {
      queue.async { completion(nil, error) }
    }
  }

  /// Checks that all references in the data of the writes belong to this database.
  func check(_ mutations: [Mutation]) throws(FirestoreError) {
    do throws(ModelError) {
      for mutation in mutations { try mutation.checkReferences(stayIn: database) }
    } catch {
      throw FirestoreError(error)
    }
  }
}
