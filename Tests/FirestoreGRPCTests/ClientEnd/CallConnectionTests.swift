// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import HTTP2Frames
import NIOCore
import NIOEmbedded
import NIOHPACK
import ServerTesting
import Testing

@testable import FirestoreGRPC

/// The client's end of a connection: what it says, what it takes, and how long it lives.
@Suite("Client side of an HTTP/2 connection")
struct CallConnectionTests {
  @Test("A connection sends the preface and SETTINGS and waits for the peer's SETTINGS")
  func greeting() throws {
    let peer = try HandmadePeer(settings: nil)
    #expect(peer.preface?.hasPrefix("PRI * HTTP/2.0") == true && peer.greeting == nil)
    let frames = try peer.frames()
    #expect(frames.map(\.kind) == [.settings, .window])
    // No push, windows of four megabytes, headers up to 64 KiB.
    let settings = try #require(frames.first?.bytes)
    #expect(settings == [0, 4, 0, 0x40, 0, 0, 0, 6, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0])
    try peer.send(.settings)
    guard case .success? = peer.greeting else { return #expect(Bool(false), "The greeting was not heard.") }
    #expect(try peer.frames().map(\.flags) == [1])
  }

  @Test("Calls use odd stream ids from 1, and later headers are compressed")
  func heads() throws {
    let peer = try HandmadePeer()
    _ = try (peer.begin(), peer.begin([1, 2]))
    let frames = try peer.frames().filter { $0.stream > 0 }
    #expect(frames.map(\.stream) == [1, 1, 3, 3] && frames.map(\.isLast) == [false, true, false, true])
    #expect(frames[3].bytes == [0, 0, 0, 0, 2, 1, 2])
    #expect(frames[0].headers == frames[2].headers && frames[2].bytes.count < 20 && frames[0].bytes.count > 100)
    #expect(frames[2].headers.first(name: ":path") == "/google.firestore.v1.Firestore/RunQuery")
  }

  @Test("Data written during one event-loop turn is sent together")
  func gathering() throws {
    let peer = try HandmadePeer()
    _ = try peer.frames()
    let call = try peer.begin(nil)
    _ = try peer.begin()
    let other = try peer.begin(nil)
    call.finish()
    other.finish()
    peer.loop.run()
    let first = try peer.channel.readOutbound(as: ByteBuffer.self)
    #expect(first != nil)
    #expect(try peer.channel.readOutbound(as: ByteBuffer.self) == nil)
  }

  @Test("Messages are reassembled from any frames, and trailers end the call cleanly")
  func answer() throws {
    let peer = try HandmadePeer()
    let call = try peer.begin()
    _ = try peer.frames()
    let bytes =
      HandmadePeer.message(3) + HandmadePeer.message(0) + HandmadePeer.message(40_000, of: 9) + HandmadePeer.message(1)
    try peer.send(1, HandmadePeer.head)
    var rest = bytes[...]
    for size in [1, 3, 2, 20, 7, 16_384, 16_384] {
      try peer.send(.data, stream: 1, rest.prefix(size))
      rest = rest.dropFirst(size)
    }
    try peer.send(.data, stream: 1, rest)
    #expect(call.taken().map(\.count) == [3, 0, 40_000, 1] && call.outcome == nil)
    try peer.send(1, HandmadePeer.success, isLast: true)
    #expect(call.outcome == "success")
    #expect(try peer.said().isEmpty)
  }

  @Test("Headers may be split, padded and prioritized, and trailers-only is a response")
  func continuation() throws {
    let peer = try HandmadePeer()
    let call = try peer.begin()
    _ = try peer.frames()
    let block = try peer.block([":status": "200", "grpc-status": "5", "grpc-message": "gone%21"])
    let front = [2, 0, 0, 0, 0, 16] + block.prefix(4) + [0, 0]
    try peer.send(.headers, flags: 0x1 | 0x8 | 0x20, stream: 1, front)
    try peer.send(.continuation, stream: 1, block.dropFirst(4).prefix(3))
    try peer.send(.continuation, flags: 4, stream: 1, block.dropFirst(7))
    #expect(call.outcome == "\(StatusCode.notFound)")
    #expect(try peer.said().isEmpty)
  }

  @Test("Calls over the peer's limit wait, and calls canceled while waiting never start")
  func streams() throws {
    let peer = try HandmadePeer(settings: [0, 3] + TestFrame.bigEndian(1))
    let calls = try (0..<4).map { _ in try peer.begin() }
    _ = try peer.frames()
    calls[1].abandon()
    #expect(calls[1].outcome == "CancellationError()")
    try peer.send(1, HandmadePeer.answer, isLast: true)
    #expect(try peer.said() == ["headers 3", "data 3"])
    try peer.send(.settings, [0, 3] + TestFrame.bigEndian(100))
    #expect(try peer.said() == ["settings 0", "headers 5", "data 5"])
  }

  @Test("A request larger than the peer's window waits, and its sender waits too")
  func window() throws {
    let peer = try HandmadePeer(settings: [0, 4] + TestFrame.bigEndian(10))
    let call = try peer.begin(nil)
    let waiting = try call.stream.value.send([UInt8](repeating: 1, count: 15))
    var isSent = false
    waiting?.assumeIsolated().whenSuccess { isSent = true }
    #expect(try peer.frames().filter { $0.kind == .data }.map(\.bytes.count) == [10] && !isSent)
    try peer.send(.window, stream: 1, TestFrame.bigEndian(10))
    #expect(try peer.frames().map(\.bytes.count) == [10])
    peer.loop.run()
    #expect(isSent)
    // All has gone at once.
    try peer.send(.window, stream: 1, TestFrame.bigEndian(100))
    #expect(try call.stream.value.send([1]) == nil)
  }

  @Test("While a response is unread, at most one window arrives, and other calls continue")
  func pressure() throws {
    let peer = try HandmadePeer()
    let slow = try peer.begin()
    let fast = try peer.begin()
    _ = try peer.frames()
    for stream in [1, 3] { try peer.send(stream, HandmadePeer.head) }
    let message = HandmadePeer.message(16_379)
    for _ in 0..<500 {
      try peer.send(.data, stream: 3, message)
      _ = fast.taken()
    }
    let updates = try peer.frames()
    #expect(updates.allSatisfy { $0.kind == .window && $0.stream == 3 } && updates.count > 4)
    // One megabyte is taken in, for which there is room again; then four more may come.
    for _ in 0..<320 { try peer.send(.data, stream: 1, message) }
    #expect(try peer.said() == ["window 1"] && peer.channel.isActive)
    #expect(slow.taken().count == 320)
    #expect(try peer.said() == ["window 1"])
  }

  @Test("A connection closes after a minute without calls, but not during a call")
  func idleness() throws {
    let peer = try HandmadePeer()
    let call = try peer.begin()
    try pass(minutes: 3, peer)
    #expect(peer.channel.isActive)
    try peer.send(1, HandmadePeer.answer, isLast: true)
    #expect(call.outcome == "success")
    try pass(seconds: 50, peer)
    #expect(peer.channel.isActive && peer.retirements == 0)
    try pass(seconds: 80, peer)
    #expect(!peer.channel.isActive && peer.retirements == 1)
    #expect(throws: TransportFailure.self) { try peer.begin() }
  }

  /// Time passes, in which the peer answers each ping.
  private func pass(minutes: Int = 0, seconds: Int = 0, _ peer: HandmadePeer) throws {
    for _ in 0..<(60 * minutes + seconds) / 5 where peer.channel.isActive {
      peer.loop.advanceTime(by: .seconds(5))
      for ping in try peer.frames() where ping.kind == .ping { try peer.send(.ping, flags: 1, ping.bytes) }
    }
  }

  @Test("After 30 s of silence a PING is sent, and without any reply all calls end")
  func silence() throws {
    let peer = try HandmadePeer()
    let call = try peer.begin()
    _ = try peer.frames()
    peer.loop.advanceTime(by: .seconds(40))
    #expect(try peer.said() == ["ping 0"])
    try peer.send(.window, TestFrame.bigEndian(5))
    peer.loop.advanceTime(by: .seconds(30))
    #expect(try peer.said() == ["ping 0"] && peer.channel.isActive)
    peer.loop.advanceTime(by: .milliseconds(10_020))
    // What has come meanwhile is looked at first.
    #expect(peer.channel.isActive)
    peer.loop.advanceTime(by: .milliseconds(50))
    #expect(call.outcome == "silent" && !peer.channel.isActive && peer.retirements == 1)
  }

  @Test("A connection whose peer never sends SETTINGS fails")
  func mute() throws {
    let peer = try HandmadePeer(settings: nil)
    peer.loop.advanceTime(by: .milliseconds(10_100))
    guard case .failure(TransportFailure.silent)? = peer.greeting else {
      return #expect(Bool(false), "\(String(describing: peer.greeting))")
    }
    #expect(!peer.channel.isActive)
  }

  @Test("A call past its deadline is reset without affecting others")
  func deadline() throws {
    let peer = try HandmadePeer()
    let call = try peer.begin(timeout: .seconds(5))
    #expect(try peer.frames().contains { $0.headers["grpc-timeout"] == ["5000m"] })
    peer.loop.advanceTime(by: .seconds(5))
    #expect(call.outcome == "overdue")
    let said = try peer.frames()
    #expect(said.map(\.kind) == [.reset] && said.first?.code == 8 && peer.channel.isActive)
  }

  @Test("A retired connection finishes its calls and then closes")
  func retirement() throws {
    let peer = try HandmadePeer()
    let call = try peer.begin()
    peer.connection.retire()
    peer.connection.retire()
    #expect(throws: TransportFailure.self) { try peer.begin() }
    #expect(peer.channel.isActive && peer.retirements == 1)
    try peer.send(1, HandmadePeer.answer, isLast: true)
    #expect(call.outcome == "success" && !peer.channel.isActive)
  }
}
