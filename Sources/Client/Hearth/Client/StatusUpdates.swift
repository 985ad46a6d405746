// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreSync

/// One aspect of a client's status, such as the queue of writes: its present state (`current`), or as a sequence one
/// element for the present state and one for each change of it. Unread elements give way to newer ones.
public struct StatusUpdates<Element: Equatable & Sendable>: AsyncSequence, Sendable {
  /// The client, or the reason why there is none.
  let client: Result<Client, FirestoreError>
  let aspect: @Sendable (ClientStatus) -> Element

  /// The present state.
  /// - Throws: the reason why the client cannot be used, or `cancelled` if the task was cancelled.
  public var current: Element {
    get async throws {
      var updates = try client.get().engine.status().makeAsyncIterator()
      if let status = await updates.next() { return aspect(status) }
      throw Task.isCancelled ? FirestoreError(.cancelled, "The task was cancelled.") : .terminated
    }
  }

  /// Reads the elements one after another.
  public struct Iterator: AsyncIteratorProtocol {
    var base: AsyncStream<ClientStatus>.Iterator
    let aspect: @Sendable (ClientStatus) -> Element
    var last: Element?

    /// The present state at first, then the state after the next change; `nil` when the client has ended.
    public mutating func next() async -> Element? { await next(isolation: nil) }

    /// The same as `next()`, without leaving the caller's actor.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(Never) -> Element? {
      while let status = await base.next(isolation: actor) {
        let element = aspect(status)
        if element == last { continue }
        last = element
        return element
      }
      return nil
    }
  }

  /// A new reader, which begins with the present state.
  public func makeAsyncIterator() -> Iterator {
    let status = (try? client.get())?.engine.status() ?? AsyncStream { $0.finish() }
    return Iterator(base: status.makeAsyncIterator(), aspect: aspect)
  }
}

extension Firestore {
  func statusUpdates<Element>(_ aspect: @escaping @Sendable (ClientStatus) -> Element) -> StatusUpdates<Element> {
    StatusUpdates(client: Result { () throws(FirestoreError) in try client() }, aspect: aspect)
  }
}
