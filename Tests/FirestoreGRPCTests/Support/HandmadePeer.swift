// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import NIOCore
import NIOEmbedded
import NIOHPACK
import ServerTesting

@testable import FirestoreGRPC

/// A client's connection, and a peer whose frames are made by hand, both in the test; time passes when it is told to.
final class HandmadePeer {
  static let keepalive = Connection.Keepalive(time: .seconds(30), timeout: .seconds(10))
  static let head: HPACKHeaders = [":status": "200", "content-type": "application/grpc"]
  static let success: HPACKHeaders = ["grpc-status": "0"]
  /// Trailers that are the whole response.
  static let answer: HPACKHeaders = [":status": "200", "content-type": "application/grpc", "grpc-status": "0"]

  /// A message of gRPC with so many bytes.
  static func message(_ count: Int, of byte: UInt8 = 7) -> [UInt8] {
    [0] + TestFrame.bigEndian(UInt32(count)) + [UInt8](repeating: byte, count: count)
  }

  let loop = EmbeddedEventLoop()
  let channel: EmbeddedChannel
  let connection: CallConnection
  /// The bytes with which the client has begun, in front of its frames.
  private(set) var preface: String?
  /// The outcome of waiting for the peer's greeting.
  private(set) var greeting: Result<Void, any Error>?
  private let retirement = Retirement()
  private var encoder = HPACKEncoder(allocator: ByteBufferAllocator(), useHuffmanEncoding: false)
  private var decoder = HPACKDecoder(allocator: ByteBufferAllocator())
  private var received = ByteBuffer()

  private final class Retirement { var count = 0 }

  /// The number of times that the connection has said that it takes no more calls.
  var retirements: Int { retirement.count }

  /// - Parameter settings: those of the peer; `nil` for one that says nothing.
  init(settings: [UInt8]? = []) throws {
    channel = EmbeddedChannel(loop: loop)
    let endpoint = Endpoint(host: "localhost", port: 80, security: .plaintext)
    connection = CallConnection(
      RequestHeads(database: Samples.database, at: endpoint), Self.keepalive, on: loop)
    channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
    let pipeline = channel.pipeline.syncOperations
    try pipeline.addHandler(connection.signs)
    try pipeline.addHandler(connection.frames)
    let retirement = NIOLoopBound(retirement, eventLoop: loop)
    connection.greeting { retirement.value.count += 1 }.assumeIsolated().whenComplete { self.greeting = $0 }
    loop.run()
    received = try channel.readOutbound(as: ByteBuffer.self) ?? ByteBuffer()
    preface = received.readString(length: TestConnection.preface.count)
    if let settings { try send(.settings, settings) }
  }

  // MARK: The client

  func begin(_ message: [UInt8]? = [], timeout: Duration? = nil) throws -> CallStream {
    try connection.begin(RequestHead(method: .runQuery, timeout: timeout), message)
  }

  // MARK: The peer

  func send(_ bytes: [UInt8]) throws { try channel.writeInbound(ByteBuffer(bytes: bytes)) }

  func send(
    _ kind: TestFrame.Kind, flags: UInt8 = 0, stream: Int = 0, _ content: some Collection<UInt8> = []
  ) throws { try send(TestFrame.bytes(kind, flags: flags, stream: stream, content)) }

  func block(_ headers: HPACKHeaders) throws -> [UInt8] {
    var block = ByteBuffer()
    try encoder.encode(headers: headers, to: &block)
    return Array(block.readableBytesView)
  }

  func send(_ stream: Int, _ headers: HPACKHeaders, isLast: Bool = false) throws {
    try send(.headers, flags: isLast ? 5 : 4, stream: stream, block(headers))
  }

  func reset(_ stream: Int, _ code: UInt32) throws { try send(.reset, stream: stream, TestFrame.bigEndian(code)) }

  func goAway(last: UInt32, code: UInt32 = 0) throws {
    try send(.goAway, TestFrame.bigEndian(last) + TestFrame.bigEndian(code))
  }

  /// The frames that the client has sent, at the next turn of its thread.
  func frames() throws -> [TestFrame] {
    loop.run()
    while var bytes = try channel.readOutbound(as: ByteBuffer.self) { received.writeBuffer(&bytes) }
    return try TestFrame.take(from: &received, &decoder)
  }

  /// The kinds of frames that the client has sent, with their streams.
  func said() throws -> [String] { try frames().map { "\($0.kind) \($0.stream)" } }
}

extension CallStream {
  /// The messages that have come; with them, their window is settled.
  func taken() -> [[UInt8]] {
    guard let taken = inbox.takeWaiting().0 else { return [] }
    if taken.isReadOwed { settle() }
    return taken.messages.map { Array($0.readableBytesView) }
  }

  /// The way in which the call has ended, behind its messages; `nil` for one that has not.
  var outcome: String? {
    switch inbox.takeWaiting().1 {
    case nil: nil
    case .success?: "success"
    case .failure(let status as RPCStatus)?: "\(status.code)"
    case .failure(let failure)?: "\(failure)"
    }
  }
}
