// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreSync

extension Firestore {
  /// Puts writes into the queue, in call order.
  func submit(
    _ mutations: [Mutation], _ options: WriteOptions = WriteOptions()
  ) throws(FirestoreError) -> WriteHandle {
    WriteHandle(handle: try checkedClient(for: mutations).engine.write(mutations, options.conditions))
  }

  /// Puts writes into the queue, in call order, and calls a completion with the backend's answer, or with the reason
  /// why the writes were not queued. The completion comes before the snapshots that contain the result (S3), since both
  /// go through one serial queue.
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

  /// Checks references in the data of writes, which must stay in this database.
  func check(_ mutations: [Mutation]) throws(FirestoreError) {
    do throws(ModelError) {
      for mutation in mutations { try mutation.checkReferences(stayIn: database) }
    } catch {
      throw FirestoreError(error)
    }
  }
}
