// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
import Foundation

extension Firestore {
  /// Stops everything and closes the cache. Listeners get no more callbacks, and every later call on this instance
  /// fails with `failedPrecondition`; `Firestore.firestore(…)` gives a new one. Waiting writes stay in a durable cache
  /// and are sent by the next client.
  public func terminate() async throws {
    let client = markTerminated()
    forget()
    await client?.terminate()
  }

  public func terminate(completion: (@Sendable ((any Error)?) -> Void)? = nil) {
    completeLifecycle(completion) { [self] in try await terminate() }
  }

  /// Deletes the durable cache, waiting writes included. Only before the first use or after `terminate()`: otherwise
  /// `failedPrecondition`, as if another process holds the cache.
  public func clearPersistence() async throws {
    if isOpen {
      throw FirestoreError.failedPrecondition("Persistence cannot be cleared while the client is running.")
    }
    guard case .directory(let directory) = cacheLocation, FileManager.default.fileExists(atPath: directory) else {
      return
    }
    do {
      // Opening takes the directory's lock: nobody else may be using it.
      let store = try LocalStore(
        LocalStoreConfiguration(location: cacheLocation, policy: .never, database: database))
      store.close()
    } catch where error.kind == .locked {
      throw FirestoreError(FirestoreErrorCode(error.code), error.message)
    } catch {
      // A cache that cannot be opened is what this call is for.
    }
    do {
      try FileManager.default.removeItem(atPath: directory)
    } catch {
      throw FirestoreError(
        .unavailable, "The cache in \(directory) could not be deleted: \(error.localizedDescription)")
    }
  }

  public func clearPersistence(completion: (@Sendable ((any Error)?) -> Void)? = nil) {
    completeLifecycle(completion) { [self] in try await clearPersistence() }
  }

  /// Calls a completion with the result of an operation that runs without a client.
  private func completeLifecycle(
    _ completion: (@Sendable ((any Error)?) -> Void)?, _ operation: @escaping @Sendable () async throws -> Void
  ) {
    let queue = settings.dispatchQueue
    lifecycleTasks.start {
      var failure: (any Error)?
      do { try await operation() } catch { failure = error }
      if let completion { await queue.perform { [failure] in completion(failure) } }
    }
  }
}
