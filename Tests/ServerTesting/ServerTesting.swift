// SPDX-License-Identifier: Apache-2.0
package import FirestoreBackend
package import FirestoreModel
package import FirestoreService
import FirestoreTesting
package import NIOCore
package import NIOEmbedded

/// Runs what it is given where it is given: the backend is then on the thread of the test, as its channels are.
package final class TestThread: SerialExecutor {
  package init() {}

  package func enqueue(_ job: consuming ExecutorJob) { UnownedJob(job).runSynchronously(on: asUnownedSerialExecutor()) }
  package func checkIsolated() {}
}

package func makeBackend() throws -> LocalBackend {
  try LocalBackend(
    BackendConfiguration(location: .memory, now: { Timestamp(microseconds: 1_000_000_000) }), on: TestThread())
}

package func makeService() throws -> FirestoreService { FirestoreService(backend: try makeBackend()) }

extension LocalBackend {
  /// Stores a document with a text, in one step on the thread of the test.
  package nonisolated func set(_ path: String, _ text: String) throws {
    let mutation = Mutation(
      key: DocumentKey(unchecked: ResourcePath(path)), operation: .set(["text": .string(text)]))
    _ = try assumeIsolated { backend in try backend.commit([mutation], in: database) }
  }

  package nonisolated var openWatches: Int { assumeIsolated { $0.watchCount } }
}

/// A message with gRPC's prefix.
package func framed(_ write: (inout WireWriter) -> Void) -> [UInt8] {
  let message = WireWriter.message(write)
  return [0] + withUnsafeBytes(of: UInt32(message.count).bigEndian) { Array($0) } + message
}

extension EmbeddedChannel {
  /// One that is connected.
  package static func connected(_ handlers: any ChannelHandler..., loop: EmbeddedEventLoop) throws -> EmbeddedChannel {
    let channel = EmbeddedChannel(loop: loop)
    try channel.pipeline.syncOperations.addHandlers(handlers)
    channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
    return channel
  }

  /// What was sent, as text.
  package func sentText() throws -> String {
    var text = ""
    while let buffer = try readOutbound(as: ByteBuffer.self) { text += String(buffer: buffer) }
    return text
  }

  package func receive(_ text: String) throws { try writeInbound(ByteBuffer(string: text)) }
}

extension [UInt8] {
  package func containsText(_ text: String) -> Bool {
    let text = Array(text.utf8)
    return count >= text.count && indices.dropLast(text.count - 1).contains { self[$0...].starts(with: text) }
  }
}

extension EventLoopFuture {
  /// Whether nothing has come of it so far.
  package var isPending: Bool {
    var isDone = false
    assumeIsolated().whenComplete { _ in isDone = true }
    return !isDone
  }
}
