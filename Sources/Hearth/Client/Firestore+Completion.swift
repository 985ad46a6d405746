// SPDX-License-Identifier: Apache-2.0
import Dispatch
import FirestoreModel
import FirestoreSync

extension Firestore {
  /// Puts writes into the queue, in call order.
  func submit(_ mutations: [Mutation]) throws(FirestoreError) -> WriteHandle {
    WriteHandle(handle: try checkedClient(for: mutations).engine.write(mutations))
  }

  /// Puts writes into the queue, in call order, and calls a completion with the backend's answer, or with the reason
  /// why there is none to ask. It comes before the snapshots that contain the result (S3), since both go through one
  /// serial queue.
  func submit(
    _ mutations: () throws(FirestoreError) -> [Mutation], completion: (@Sendable ((any Error)?) -> Void)?
  ) {
    let queue = settings.dispatchQueue
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
    let queue = settings.dispatchQueue
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

  /// What the data of writes cannot tell without the database that they are for.
  func check(_ mutations: [Mutation]) throws(FirestoreError) {
    for mutation in mutations { try checkReferences(in: mutation) }
  }

  private func checkReferences(in mutation: Mutation) throws(FirestoreError) {
    switch mutation.operation {
    case .set(let fields), .patch(let fields, _):
      for entry in fields.entries { try checkReferences(in: entry.value, at: entry.name) }
    case .delete, .verify: break
    }
  }

  /// A reference says which database it leads into, and there is no way to another one.
  private func checkReferences(in value: Value, at name: String) throws(FirestoreError) {
    switch value {
    case .reference(let other, _) where other != database:
      throw .invalidArgument(
        "The reference in field \(name) leads into database \(other.name), but the document lies in \(database.name).")
    case .array(let values): for value in values { try checkReferences(in: value, at: name) }
    case .map(let fields):
      for entry in fields.entries { try checkReferences(in: entry.value, at: name + "." + entry.name) }
    default: break
    }
  }
}
