// SPDX-License-Identifier: Apache-2.0
import FirestoreService
import NIOCore
import NIOEmbedded
import NIOHPACK
import ServerTesting
import Testing

@testable import FirestoreServer

/// What clients send that mean a server ill, or do not know HTTP/2.
@Suite struct FloodTests {
  private let loop = EmbeddedEventLoop()
  private let connection: TestConnection

  init() throws { connection = try TestConnection(CallPipeline(try makeService(), on: loop, .network), on: loop) }

  /// Whether the connection has ended with the code, and nothing else was said that is not listed.
  private func hasEnded(_ code: UInt32) throws -> Bool {
    let frames = try connection.frames()
    return !connection.channel.isActive && frames.last?.kind == .goAway && frames.last?.code == code
  }

  private func headers(_ headers: HPACKHeaders) throws -> [UInt8] {
    var encoder = HPACKEncoder(allocator: ByteBufferAllocator(), useHuffmanEncoding: false)
    var block = ByteBuffer()
    try encoder.encode(headers: headers, to: &block)
    return Array(block.readableBytesView)
  }

  @Test("More than 200 opened and reset calls within 30 s close the connection")
  func rapidReset() throws {
    for number in 0..<200 { try connection.send(2 * number + 1, .headers(.call("RunQuery")), .reset) }
    #expect(connection.channel.isActive)
    loop.advanceTime(by: .seconds(31))
    for number in 200..<400 { try connection.send(2 * number + 1, .headers(.call("RunQuery")), .reset) }
    #expect(connection.channel.isActive)
    try connection.send(801, .headers(.call("RunQuery")), .reset)
    #expect(try hasEnded(11))
  }

  @Test("Resets that the server sends for invalid requests count as a flood too")
  func inducedReset() throws {
    var malformed = HPACKHeaders.call("GetDocument")
    malformed.add(name: "connection", value: "close")
    for number in 0..<200 { try connection.send(2 * number + 1, .headers(malformed)) }
    #expect(try connection.frames().allSatisfy { $0.kind == .reset && $0.code == 1 } && connection.channel.isActive)
    try connection.send(401, .headers(malformed))
    #expect(try hasEnded(11))
  }

  @Test("Calls above the concurrency limit are refused and finally close the connection")
  func tooMany() throws {
    for number in 0..<100 { try connection.send(2 * number + 1, .headers(.call("Listen"))) }
    #expect(try connection.frames().count == 100)
    for number in 100..<300 { try connection.send(2 * number + 1, .headers(.call("Listen"))) }
    #expect(try connection.frames().allSatisfy { $0.kind == .reset && $0.code == 7 })
    try connection.send(601, .headers(.call("Listen")))
    #expect(try hasEnded(11))
  }

  @Test(
    "Endless PING, SETTINGS and PRIORITY frames close the connection",
    arguments: [TestFrame.Kind.ping, .settings, .priority])
  func control(kind: TestFrame.Kind) throws {
    let content = [UInt8](repeating: 0, count: kind == .ping ? 8 : kind == .priority ? 5 : 0)
    let frame = TestFrame.bytes(kind, stream: kind == .priority ? 1 : 0, content)
    // The connection has begun with settings.
    for _ in 0..<199 { try connection.send(frame) }
    #expect(connection.channel.isActive)
    for _ in 0..<2 where connection.channel.isActive { try connection.send(frame) }
    #expect(try hasEnded(11))
  }

  @Test("Endless or oversized headers close the connection", arguments: [1, 1_000])
  func continuations(size: Int) throws {
    try connection.send(TestFrame.bytes(.headers, stream: 1, [0x82]))
    let part = TestFrame.bytes(.continuation, stream: 1, [UInt8](repeating: 0x82, count: size))
    for _ in 0..<(66_000 / size) where connection.channel.isActive { try connection.send(part) }
    #expect(try hasEnded(11))
  }

  @Test("A compressed header bomb closes the connection")
  func bomb() throws {
    var block: [UInt8] = try headers(["a": String(repeating: "x", count: 3_000)])
    block += [UInt8](repeating: 0xbe, count: 4_000)
    try connection.send(TestFrame.bytes(.headers, flags: 5, stream: 1, block))
    #expect(try hasEnded(9))
  }

  @Test("A window overflow closes the connection")
  func windows() throws {
    try connection.send(1, .headers(.call("Listen")))
    try connection.widen(stream: 1, by: 0x7fff_ffff)
    #expect(try hasEnded(3))
  }

  @Test("A setting that overflows a window closes the connection; a repeated one does not")
  func settings() throws {
    try connection.send(1, .headers(.call("Listen")))
    let window = [0, 4] + TestFrame.bigEndian(70_000)
    try connection.send(TestFrame.bytes(.settings, Array(repeatElement(window, count: 2_000).joined())))
    #expect(try connection.summaries() == ["HEADERS"] && connection.channel.isActive)
    try connection.widen(stream: 1, by: 0x7ffe_0000)
    try connection.send(TestFrame.bytes(.settings, [0, 4] + TestFrame.bigEndian(0x7fff_ffff)))
    #expect(try hasEnded(3))
  }

  @Test("Data over the window and endless empty data close the connection")
  func data() throws {
    try connection.send(1, .headers(.call("RunQuery")))
    for _ in 0..<64 { try connection.send(1, .data([], isLast: false)) }
    #expect(connection.channel.isActive)
    try connection.send(1, .data([], isLast: false))
    #expect(try hasEnded(11))
  }

  @Test(
    "An invalid request resets only its stream",
    arguments: [
      HPACKHeaders([(":method", "POST"), (":scheme", "http")]),
      HPACKHeaders([(":method", "POST"), (":scheme", "http"), (":path", "")]),
      HPACKHeaders([(":method", "POST"), (":method", "GET"), (":scheme", "http"), (":path", "/")]),
      HPACKHeaders([(":method", "POST"), (":scheme", "http"), ("a", "b"), (":path", "/")]),
      HPACKHeaders([(":method", "POST"), (":scheme", "http"), (":path", "/"), (":status", "200")]),
      HPACKHeaders([(":method", "POST"), (":scheme", "http"), (":path", "/"), ("te", "gzip")]),
      HPACKHeaders([(":method", "POST"), (":scheme", "http"), (":path", "/"), ("a", "b\r\nc: d")]),
    ])
  func malformed(_ headers: HPACKHeaders) throws {
    try connection.send(1, .headers(headers, isLast: true))
    #expect(try connection.frames().map(\.code) == [1])
    try connection.send(3, .headers(.call("GetDocument")), .data(PromptCallTests.getRequest))
    #expect(try connection.summaries() == ["END 5"])
  }

  @Test("An uppercase header field name is invalid")
  func capitals() throws {
    let block =
      try headers([":method": "POST", ":scheme": "http", ":path": "/"]) + [0, 1] + Array("A".utf8) + [1, 0x62]
    try connection.send(TestFrame.bytes(.headers, flags: 5, stream: 1, block))
    #expect(try connection.frames().map(\.code) == [1])
  }

  @Test(
    "A request whose body differs from its content-length is reset", arguments: [[UInt8](), [1, 2], [1, 2, 3, 4]])
  func length(_ body: [UInt8]) throws {
    var headers = HPACKHeaders.call("RunQuery")
    headers.add(name: "content-length", value: "3")
    try connection.send(1, .headers(headers), .data(body))
    #expect(try connection.frames().map(\.code) == [1])
  }

  @Test("Headers in the middle of a request reset the stream")
  func middle() throws {
    try connection.send(1, .headers(.call("RunQuery")), .data([0], isLast: false), .headers(["x": "y"]))
    #expect(try connection.frames().map(\.code) == [1])
  }

  @Test("A PING after a stream frame does not count as a flood")
  func measuringPings() throws {
    let ping = TestFrame.bytes(.ping, [UInt8](repeating: 0, count: 8))
    for number in 0..<5_000 {
      try connection.send(2 * number + 1, .headers(.call("GetDocument")), .data(PromptCallTests.getRequest))
      try connection.send(ping)
      if number.isMultiple(of: 100) { _ = try connection.frames() }
    }
    #expect(connection.channel.isActive)
    // The first of these follows the last response.
    for _ in 0..<202 where connection.channel.isActive { try connection.send(ping) }
    #expect(try hasEnded(11))
  }
}
