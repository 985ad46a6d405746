// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery

enum Samples {
  static let database = DatabaseID(project: "p")
  static let query = Query(path: ResourcePath("cities"))
  static let key = DocumentKey(unchecked: ResourcePath("cities/SF"))
  static let version = SnapshotVersion(microseconds: 1_700_000_000_000_000)
  static let document = Document(
    key: key, version: version, createTime: version, state: .found(DocumentData(["name": .string("SF")])))
}

/// Requests that a test hands to a stream one by one; the stream waits for more until it is cancelled or `finish`.
final class Outgoing<Element: Sendable>: Sendable {
  private let stream: AsyncStream<Element>
  private let continuation: AsyncStream<Element>.Continuation

  init(_ elements: Element...) {
    (stream, continuation) = AsyncStream.makeStream()
    for element in elements { continuation.yield(element) }
  }

  func send(_ element: Element) { continuation.yield(element) }
  func finish() { continuation.finish() }

  var requests: StreamRequests<Element> {
    let stream = stream
    // One consumer at a time: each pull takes the next element of the same buffer.
    return StreamRequests {
      for await element in stream { return element }
      return nil
    }
  }
}
