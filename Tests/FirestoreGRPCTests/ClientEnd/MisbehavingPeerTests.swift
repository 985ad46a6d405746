// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import HTTP2Frames
import NIOCore
import NIOEmbedded
import NIOHPACK
import ServerTesting
import Testing

@testable import FirestoreGRPC

/// What peers send that break HTTP/2 or gRPC, or end in the middle, and what becomes of the calls.
@Suite("Misbehaving peers")
struct MisbehavingPeerTests {
  /// Whether the connection has ended with a GOAWAY of the code, and the calls with a failure that tells it.
  private func hasEnded(_ peer: HandmadePeer, _ code: UInt32, _ calls: CallStream...) throws -> Bool {
    let farewell = try peer.frames().last
    return !peer.channel.isActive && farewell?.kind == .goAway && farewell?.code == code && peer.retirements == 1
      && calls.allSatisfy { $0.outcome?.hasPrefix("violated") == true }
  }

  @Test(
    "Frames that HTTP/2 does not allow close the connection",
    arguments: [
      (.push, 4, 1, [0, 0, 0, 2], 1), (.headers, 4, 2, [0x88], 1), (.data, 0, 5, [1], 1), (.settings, 0, 0, [0], 6),
      (.settings, 0, 1, [], 1), (.ping, 0, 0, [1], 6), (.window, 0, 0, [0, 0, 0, 0], 1), (.reset, 0, 1, [0], 6),
      (.window, 0, 1, [0x7f, 0xff, 0xff, 0xff], 3), (.settings, 0, 0, [0, 4, 0x80, 0, 0, 0], 3),
      (.continuation, 4, 1, [0x88], 1), (.headers, 4, 1, [0xff, 0xff, 0xff, 0xff, 0x0f], 9), (.goAway, 0, 0, [0], 6),
    ] as [(TestFrame.Kind, UInt8, Int, [UInt8], UInt32)])
  func frames(_ kind: TestFrame.Kind, _ flags: UInt8, _ stream: Int, _ bytes: [UInt8], _ code: UInt32) throws {
    let peer = try HandmadePeer()
    let call = try peer.begin()
    try peer.send(kind, flags: flags, stream: stream, bytes)
    #expect(try hasEnded(peer, code, call))
  }

  @Test("An oversized frame or a frame before SETTINGS closes the connection")
  func beginnings() throws {
    let long = try HandmadePeer()
    let call = try long.begin()
    try long.send([0, 0x40, 1, 0, 0, 0, 0, 0, 1])
    #expect(try hasEnded(long, 6, call))
    for bytes in [TestFrame.bytes(.ping, [UInt8](repeating: 0, count: 8)), Array("HTTP/1.1 400 Bad\r\n\r\n".utf8)] {
      let peer = try HandmadePeer(settings: nil)
      try peer.send(bytes)
      guard case .failure(TransportFailure.violated(_, hasGreeted: false))? = peer.greeting else {
        return #expect(Bool(false), "\(String(describing: peer.greeting))")
      }
      #expect(!peer.channel.isActive)
    }
  }

  @Test(
    "Up to 20,000 PING, SETTINGS and PRIORITY frames are accepted, but not more",
    arguments: [TestFrame.Kind.ping, .settings, .priority])
  func flood(_ kind: TestFrame.Kind) throws {
    let peer = try HandmadePeer()
    let call = try peer.begin()
    let size = kind == .ping ? 8 : kind == .priority ? 5 : 0
    let frame = TestFrame.bytes(kind, stream: kind == .priority ? 1 : 0, [UInt8](repeating: 0, count: size))
    let hundred = Array(repeatElement(frame, count: 100).joined())
    // The connection has begun with settings.
    for _ in 0..<199 { try peer.send(hundred) }
    #expect(peer.channel.isActive)
    for _ in 0..<2 where peer.channel.isActive { try peer.send(hundred) }
    #expect(try hasEnded(peer, 11, call))
  }

  @Test("Data over the window closes the connection, unless its call has ended")
  func overflow() throws {
    let peer = try HandmadePeer()
    let call = try peer.begin()
    let other = try peer.begin()
    let gone = try peer.begin()
    gone.abandon()
    for stream in [1, 3] { try peer.send(stream, HandmadePeer.head) }
    let message = HandmadePeer.message(16_379)
    for _ in 0..<300 { try peer.send(.data, stream: 5, message) }
    // Of messages that nobody takes one megabyte is given back, and four are not.
    for _ in 0..<320 where peer.channel.isActive { try peer.send(.data, stream: 1, message) }
    #expect(peer.channel.isActive)
    try peer.send(.data, stream: 1, message)
    #expect(try hasEnded(peer, 3, other))
    #expect(!call.taken().isEmpty && call.outcome?.hasPrefix("violated") == true)
  }

  @Test("An oversized header list closes the connection, compressed or not")
  func largeHeaders() throws {
    let peer = try HandmadePeer()
    let call = try peer.begin()
    try peer.send(.headers, stream: 1, [0x88])
    let part = TestFrame.bytes(.continuation, stream: 1, [UInt8](repeating: 0x88, count: 16_000))
    for _ in 0..<5 where peer.channel.isActive { try peer.send(part) }
    #expect(try hasEnded(peer, 11, call))

    let packed = try HandmadePeer()
    let other = try packed.begin()
    let bomb = try packed.block(["a": String(repeating: "x", count: 3_000)]) + [UInt8](repeating: 0xbe, count: 4_000)
    try packed.send(.headers, flags: 5, stream: 1, bomb)
    #expect(try hasEnded(packed, 9, other))
  }

  @Test(
    "A reset ends only its call, with the code; a refused call was not processed",
    arguments: [
      (0, "reset(NO_ERROR)"), (1, "reset(PROTOCOL_ERROR)"), (2, "reset(INTERNAL_ERROR)"),
      (3, "reset(FLOW_CONTROL_ERROR)"), (4, "reset(SETTINGS_TIMEOUT)"), (5, "reset(STREAM_CLOSED)"),
      (6, "reset(FRAME_SIZE_ERROR)"), (7, "notTaken"), (8, "reset(CANCEL)"), (9, "reset(COMPRESSION_ERROR)"),
      (10, "reset(CONNECT_ERROR)"), (11, "reset(ENHANCE_YOUR_CALM)"), (12, "reset(INADEQUATE_SECURITY)"),
      (13, "reset(HTTP_1_1_REQUIRED)"), (99, "reset(error 99)"),
    ] as [(UInt32, String)])
  func resets(_ code: UInt32, _ outcome: String) throws {
    let peer = try HandmadePeer()
    let (call, other) = try (peer.begin(), peer.begin())
    _ = try peer.frames()
    try peer.reset(1, code)
    #expect(call.outcome == outcome && other.outcome == nil)
    // Frames that were still under way are passed over.
    try peer.send(1, HandmadePeer.head)
    try peer.send(3, HandmadePeer.answer, isLast: true)
    #expect(other.outcome == "success")
    #expect(try peer.said().isEmpty && peer.channel.isActive)
  }

  @Test("After GOAWAY later calls count as unprocessed, and earlier calls finish")
  func goAway() throws {
    let peer = try HandmadePeer(settings: [0, 3] + TestFrame.bigEndian(4))
    let calls = try (0..<6).map { _ in try peer.begin() }
    try peer.goAway(last: 0x7fff_ffff)
    // What has not begun is begun elsewhere.
    #expect(calls.map(\.outcome) == [nil, nil, nil, nil, "notTaken", "notTaken"] && peer.retirements == 1)
    try peer.goAway(last: 3, code: 11)
    #expect(calls.prefix(4).map(\.outcome) == [nil, nil, "notTaken", "notTaken"])
    #expect(throws: TransportFailure.self) { try peer.begin() }
    try peer.send(1, HandmadePeer.answer, isLast: true)
    #expect(calls[0].outcome == "success" && peer.channel.isActive)
    peer.channel.pipeline.fireChannelInactive()
    #expect(calls[1].outcome == "cut(hasGreeted: true)" && peer.retirements == 1)
  }

  @Test("A connection that closes within a message delivers the messages before it")
  func half() throws {
    let peer = try HandmadePeer()
    let call = try peer.begin()
    try peer.send(1, HandmadePeer.head)
    try peer.send(.data, stream: 1, [0, 0, 0, 0, 1, 7, 0, 0, 0, 0, 9, 1])
    // And in the middle of a frame.
    try peer.send([0, 0, 9, 0])
    peer.channel.pipeline.fireChannelInactive()
    #expect(call.taken() == [[7]] && call.outcome == "cut(hasGreeted: true)")
  }

  @Test(
    "An invalid gRPC response ends only its call",
    arguments: [
      ([:], [[1]], "withoutHead"), ([":status": "200", "content-type": "application/grpc"], [[1, 0]], "compressed"),
      ([":status": "200", "content-type": "application/grpc"], [[0, 2, 0, 0, 0]], "tooLarge(33554432)"),
      ([":status": "502"], [], "httpAnswer(502)"),
      ([":status": "200", "content-type": "text/html"], [], "httpAnswer(200)"),
      (["x": "y"], [], "httpAnswer(0)"),
    ] as [(HPACKHeaders, [[UInt8]], String)])
  func answers(_ head: HPACKHeaders, _ parts: [[UInt8]], _ outcome: String) throws {
    let peer = try HandmadePeer()
    let (call, other) = try (peer.begin(), peer.begin())
    _ = try peer.frames()
    if !head.isEmpty { try peer.send(1, head) }
    for part in parts { try peer.send(.data, stream: 1, part) }
    #expect(call.outcome == outcome && other.outcome == nil)
    let said = try peer.frames()
    #expect(said.map(\.kind) == [.reset] && said.first?.stream == 1 && peer.channel.isActive)
  }

  @Test("A 1xx response is skipped, and a missing grpc-status is an error")
  func interim() throws {
    let peer = try HandmadePeer()
    let (call, other) = try (peer.begin(), peer.begin())
    try peer.send(1, [":status": "103"])
    try peer.send(1, HandmadePeer.head)
    try peer.send(.data, flags: 1, stream: 1, [0, 0, 0, 0, 0])
    #expect(call.taken() == [[]] && call.outcome == "withoutStatus")
    try peer.send(3, HandmadePeer.head, isLast: true)
    #expect(other.outcome == "withoutStatus" && peer.channel.isActive)
  }
}
