// SPDX-License-Identifier: Apache-2.0
import FirestoreProtocol
import FirestoreTesting

/// Requests that a test sends one by one, and events that it waits for.
struct Channel<Element: Sendable>: Sendable {
  private let stream: AsyncStream<Element>
  private let continuation: AsyncStream<Element>.Continuation

  init() { (stream, continuation) = AsyncStream.makeStream(of: Element.self) }

  func send(_ element: Element) { continuation.yield(element) }
  func finish() { continuation.finish() }

  func next() async -> Element? {
    var iterator = stream.makeAsyncIterator()
    return await iterator.next()
  }

  var requests: StreamRequests<Element> { StreamRequests { await next() } }
}
