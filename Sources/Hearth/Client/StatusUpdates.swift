// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreSync

/// One aspect of a client's status: an element now and one for each change of it. Unread elements give way to newer
/// ones. For one consumer.
public struct StatusUpdates<Element: Equatable & Sendable>: AsyncSequence, Sendable {
  let status: AsyncStream<ClientStatus>
  let aspect: @Sendable (ClientStatus) -> Element

  public struct Iterator: AsyncIteratorProtocol {
    var base: AsyncStream<ClientStatus>.Iterator
    let aspect: @Sendable (ClientStatus) -> Element
    var last: Element?

    public mutating func next() async -> Element? { await next(isolation: nil) }

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

  public func makeAsyncIterator() -> Iterator { Iterator(base: status.makeAsyncIterator(), aspect: aspect) }
}

extension Firestore {
  func statusUpdates<Element>(_ aspect: @escaping @Sendable (ClientStatus) -> Element) -> StatusUpdates<Element> {
    StatusUpdates(status: (try? client())?.engine.status() ?? .finished, aspect: aspect)
  }
}

extension AsyncStream where Element: Sendable {
  fileprivate static var finished: AsyncStream { AsyncStream { $0.finish() } }
}
