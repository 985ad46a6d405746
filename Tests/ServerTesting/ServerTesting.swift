// SPDX-License-Identifier: Apache-2.0
package import FirestoreBackend
package import FirestoreModel
package import FirestoreServer
package import FirestoreService
import FirestoreTesting
package import NIOCore
package import NIOEmbedded
package import NIOHPACK
package import NIOHTTP2

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

extension ConnectionBudget {
  package convenience init(on loop: EmbeddedEventLoop, responseBytes: Int = 1 << 20) {
    let limits = ConnectionLimits(
      streams: 10, windowBytes: 65_535, requestBytes: 1 << 20, responseBytes: responseBytes, windowUpdates: 100)
    self.init(limits, ServerBudget(on: loop, limit: 1 << 30), on: loop)
  }
}

/// A message with gRPC's prefix.
package func framed(_ write: (inout WireWriter) -> Void) -> [UInt8] {
  let message = WireWriter.message(write)
  return [0] + withUnsafeBytes(of: UInt32(message.count).bigEndian) { Array($0) } + message
}

extension HPACKHeaders {
  package static func call(_ method: String) -> HPACKHeaders {
    [
      ":method": "POST", ":scheme": "http", ":path": "/google.firestore.v1.Firestore/\(method)",
      ":authority": "localhost", "content-type": "application/grpc",
    ]
  }

  /// One field a line.
  package var lines: [String] { map { "\($0.name): \($0.value)" } }
}

extension HTTP2Frame.FramePayload {
  package static func headers(_ headers: HPACKHeaders, isLast: Bool = false) -> Self {
    .headers(.init(headers: headers, endStream: isLast))
  }

  package static func data(_ bytes: some Collection<UInt8>, isLast: Bool = true) -> Self {
    .data(.init(data: .byteBuffer(ByteBuffer(bytes: bytes)), endStream: isLast))
  }

  /// What a response says with it: `DATA`, `END 0` for its status, or the name of the frame.
  package var summary: String {
    switch self {
    case .headers(let frame): frame.headers.first(name: "grpc-status").map { "END \($0)" } ?? "HEADERS"
    case .data(let frame): frame.endStream ? "DATA, END" : "DATA"
    case .rstStream: "RESET"
    case .goAway(let last, _, _): "GOAWAY \(last == .maxID ? "max" : "\(Int(last))")"
    case .ping(_, let isAnswer): isAnswer ? "PONG" : "PING"
    default: "OTHER"
    }
  }

  /// The bytes of a DATA frame.
  package var bytes: [UInt8] {
    guard case .data(let frame) = self, case .byteBuffer(let buffer) = frame.data else { return [] }
    return Array(buffer.readableBytesView)
  }
}

extension HTTP2Frame {
  package static func data(_ stream: Int, _ count: Int, isLast: Bool = false) -> HTTP2Frame {
    HTTP2Frame(
      streamID: HTTP2StreamID(stream),
      payload: .data(ByteBuffer(repeating: 7, count: count).readableBytesView, isLast: isLast))
  }
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

  /// Frames that were sent.
  package func sentFrames() throws -> [HTTP2Frame] {
    var frames: [HTTP2Frame] = []
    while let frame = try readOutbound(as: HTTP2Frame.self) { frames.append(frame) }
    return frames
  }

  /// Frames that the handlers have passed on.
  package func passedFrames() throws -> [HTTP2Frame] {
    var frames: [HTTP2Frame] = []
    while let frame = try readInbound(as: HTTP2Frame.self) { frames.append(frame) }
    return frames
  }

  /// What was sent on the channel of one call.
  package func sentPayloads() throws -> [HTTP2Frame.FramePayload] {
    var payloads: [HTTP2Frame.FramePayload] = []
    while let payload = try readOutbound(as: HTTP2Frame.FramePayload.self) { payloads.append(payload) }
    return payloads
  }
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
