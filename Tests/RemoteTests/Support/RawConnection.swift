// SPDX-License-Identifier: Apache-2.0
import FirestoreGRPC
import NIOCore
import NIOHPACK
import NIOPosix
import TransportSecurity

/// A connection on which the test speaks HTTP/2 by hand and sees each frame of the server.
struct RawConnection: Sendable {
  struct Frame: Sendable {
    static let data: UInt8 = 0
    static let headers: UInt8 = 1

    var type: UInt8
    var flags: UInt8
    var stream: UInt32
    var payload: [UInt8]

    static let reset: UInt8 = 3
    static let ping: UInt8 = 6
    static let goAway: UInt8 = 7
    static let windowUpdate: UInt8 = 8

    var isLast: Bool { (type == Self.data || type == Self.headers) && flags & 1 != 0 }
  }

  let frames: AsyncStream<Frame>
  private let channel: any Channel

  /// - Parameters:
  ///   - window: how much the server may send on a stream before it is asked to.
  ///   - allowsHalfClosure: whether the connection remains open when the server has ended its output.
  init(to endpoint: Endpoint, window: UInt32 = 1 << 20, allowsHalfClosure: Bool = false) async throws {
    let (frames, continuation) = AsyncStream.makeStream(of: Frame.self)
    self.frames = frames
    let tls: TLSContext? =
      if case .tls(let roots) = endpoint.security { try TLSContext(trustRoots: roots, http2: true) } else { nil }
    channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .channelOption(ChannelOptions.allowRemoteHalfClosure, value: allowsHalfClosure)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          if let tls { try channel.pipeline.syncOperations.addHandler(tls.clientHandler(for: .host(endpoint.host))) }
          try channel.pipeline.syncOperations.addHandler(FrameReader(continuation))
        }
      }
      .connect(host: endpoint.host, port: endpoint.port).get()
    let initialWindowSize: [UInt8] = [0, 4] + Self.bytes(window)
    // A server that refuses the connection may have ended it already.
    try? await send(RawRequest.preface + RawRequest.frame(4, initialWindowSize))
  }

  func send(_ bytes: [UInt8]) async throws { try await channel.writeAndFlush(ByteBuffer(bytes: bytes)) }

  /// Sends a request's body in frames of usual size, and no faster than the server opens the connection's window.
  /// - Returns: what the server said meanwhile.
  @discardableResult
  func send(_ body: [UInt8], stream: UInt32, isLast: Bool = true) async throws -> [Frame] {
    var said: [Frame] = []
    var rest = body[...]
    while !rest.isEmpty {
      let part = rest.prefix(16_000)
      rest = rest.dropFirst(part.count)
      try await send(RawRequest.data(Array(part), stream: stream, isLast: isLast && rest.isEmpty))
      if rest.isEmpty || (body.count - rest.count) % 48_000 != 0 { continue }
      try await send(RawRequest.frame(6, [UInt8](repeating: 1, count: 8)))
      for await frame in frames {
        if frame.type == Frame.ping { break }
        said.append(frame)
      }
    }
    return said
  }

  /// Lets the server send so many bytes more.
  func widen(stream: UInt32, by count: UInt32) async throws {
    try await send(RawRequest.frame(8, stream: stream, Self.bytes(count)))
  }

  /// The headers and data of a stream up to its end.
  func response(stream: UInt32 = 1) async -> [Frame] {
    var response: [Frame] = []
    for await frame in frames where frame.stream == stream && frame.type <= Frame.headers {
      response.append(frame)
      if frame.isLast { break }
    }
    return response
  }

  /// What the headers among some frames say, one field a line. The frames are those of the connection from its first
  /// on: each block is read with what those before it have left.
  static func headers(in frames: [Frame]) throws -> [String] {
    var decoder = HPACKDecoder(allocator: ByteBufferAllocator())
    return try frames.filter { $0.type == Frame.headers }.flatMap { frame in
      var block = ByteBuffer(bytes: frame.payload)
      return try decoder.decodeHeaders(from: &block).map { "\($0.name): \($0.value)" }
    }
  }

  func close() async throws { try await channel.close() }

  private static func bytes(_ integer: UInt32) -> [UInt8] { withUnsafeBytes(of: integer.bigEndian) { Array($0) } }
}

final class FrameReader: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let frames: AsyncStream<RawConnection.Frame>.Continuation
  private var buffer = ByteBuffer()
  /// The bytes in front of the first frame.
  private var preface: Int

  init(_ frames: AsyncStream<RawConnection.Frame>.Continuation, preface: Int = 0) {
    (self.frames, self.preface) = (frames, preface)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var received = unwrapInboundIn(data)
    buffer.writeBuffer(&received)
    if preface > 0, buffer.readSlice(length: preface) == nil { return }
    preface = 0
    while let head = buffer.getBytes(at: buffer.readerIndex, length: 9) {
      let length = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
      guard buffer.readableBytes >= 9 + length else { return }
      buffer.moveReaderIndex(forwardBy: 9)
      let stream = head[5..<9].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      frames.yield(
        RawConnection.Frame(
          type: head[3], flags: head[4], stream: stream, payload: buffer.readBytes(length: length) ?? []))
    }
  }

  func channelInactive(context: ChannelHandlerContext) { frames.finish() }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event as? ChannelEvent == .inputClosed { frames.finish() }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
