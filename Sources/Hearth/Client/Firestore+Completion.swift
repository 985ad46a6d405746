// SPDX-License-Identifier: Apache-2.0
import Dispatch
import FirestoreModel
import FirestoreSync

extension Firestore {
  /// Puts writes into the queue, in call order.
  func submit(_ mutations: [Mutation]) throws(FirestoreError) -> WriteHandle {
    let client = try client()
    for mutation in mutations { try checkReferences(in: mutation) }
    return WriteHandle(handle: client.engine.write(mutations))
  }

  /// Calls a completion with the backend's answer to a write, or with the reason why there is none to ask. It comes
  /// before the snapshots that contain the result (S3), since both go through one serial queue.
  func complete(
    _ write: Result<WriteHandle, FirestoreError>, _ completion: (@Sendable ((any Error)?) -> Void)?
  ) {
    guard let completion else { return }
    let queue = settings.dispatchQueue
    switch write {
    case .failure(let error): queue.async { completion(error) }
    case .success(let write):
      write.handle.whenAnswered { result in
        queue.async {
          switch result {
          case .success: completion(nil)
          case .failure(let status): completion(FirestoreError(status))
          }
        }
      }
    }
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
    do {
      try client().callbackTasks.start {
        do {
          let value = try await operation()
          await queue.perform { completion(value, nil) }
        } catch {
          await queue.perform { completion(nil, error) }
        }
      }
    } catch {
      queue.async { completion(nil, error) }
    }
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
