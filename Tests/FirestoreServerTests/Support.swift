// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import FirestoreService
import NIOCore
import NIOEmbedded
import NIOHTTP2

@testable import FirestoreServer

func makeService() throws -> FirestoreService {
  let configuration = BackendConfiguration(location: .memory, now: { Timestamp(microseconds: 1_000_000_000) })
  return FirestoreService(backend: try LocalBackend(configuration))
}

extension EmbeddedChannel {
  /// What was sent, as text.
  func sentText() throws -> String {
    var text = ""
    while let buffer = try readOutbound(as: ByteBuffer.self) { text += String(buffer: buffer) }
    return text
  }

  func receive(_ text: String) throws { try writeInbound(ByteBuffer(string: text)) }

  /// Frames that were sent.
  func sentFrames() throws -> [HTTP2Frame] {
    var frames: [HTTP2Frame] = []
    while let frame = try readOutbound(as: HTTP2Frame.self) { frames.append(frame) }
    return frames
  }
}

extension HTTP2Frame {
  static func data(_ stream: Int, _ count: Int, isLast: Bool = false) -> HTTP2Frame {
    let bytes = ByteBuffer(repeating: 7, count: count)
    return HTTP2Frame(
      streamID: HTTP2StreamID(stream), payload: .data(.init(data: .byteBuffer(bytes), endStream: isLast)))
  }
}
