// SPDX-License-Identifier: Apache-2.0
import FirestoreService
import NIOCore
import NIOEmbedded
import ServerTesting
import Testing

@testable import FirestoreServer

/// The rules of HTTP/2 and HPACK that a client can break, one row each. PROTOCOL.md lists those that the server leaves out.
@Suite struct HTTP2ConformanceTests {
  private let loop = EmbeddedEventLoop()

  // MARK: The connection

  private static let ping = TestFrame.bytes(.ping, [1, 2, 3, 4, 5, 6, 7, 8])
  private static let open = TestFrame.headers(1, head)
  private static let request = TestFrame.bytes(.data, flags: 1, stream: 1, PromptCallTests.getRequest)
  /// The number of an unknown kind of frame.
  private static func unknown(_ stream: UInt8) -> [UInt8] { [0, 0, 1, 0x16, 0xff, 0, 0, 0, stream, 9] }

  static let head: [(String, String)] = [
    (":method", "POST"), (":scheme", "http"), (":path", "/google.firestore.v1.Firestore/GetDocument"),
    (":authority", "localhost"), ("content-type", "application/grpc"),
  ]

  private static func block(_ bytes: [UInt8], flags: UInt8 = 5) -> [UInt8] {
    TestFrame.bytes(.headers, flags: flags, stream: 1, bytes)
  }

  static let frames: [ConformanceRow] = [
    ConformanceRow("4.1 unknown kind of frame", unknown(0) + unknown(1), .accepted),
    ConformanceRow("4.1 undefined flags", TestFrame.bytes(.ping, flags: 0xfe, [1, 2, 3, 4, 5, 6, 7, 8]), .accepted),
    ConformanceRow(
      "4.1 reserved bit of the stream's number", [0, 0, 8, 6, 0, 0x80, 0, 0, 0] + ping.dropFirst(9), .accepted),
    ConformanceRow(
      "4.2 frame of 16 384 bytes", open + TestFrame.bytes(.data, stream: 1, [UInt8](repeating: 0, count: 16_384)),
      .accepted),
    ConformanceRow(
      "4.2 DATA of 16 385 bytes", open + TestFrame.bytes(.data, stream: 1, [UInt8](repeating: 0, count: 16_385)),
      .connectionError(.frameSizeError)),
    ConformanceRow(
      "4.2 HEADERS of 16 385 bytes", block([UInt8](repeating: 0x82, count: 16_385)), .connectionError(.frameSizeError)),
    ConformanceRow(
      "4.3 DATA within a block of headers", block([0x83], flags: 1) + TestFrame.bytes(.data, stream: 1, [1]),
      .connectionError(.protocolError)),
    ConformanceRow(
      "4.3 HEADERS of another stream within a block", block([0x83], flags: 1) + TestFrame.headers(3, head),
      .connectionError(.protocolError)),
    ConformanceRow(
      "4.3 PING within a block of headers", block([0x83], flags: 1) + ping, .connectionError(.protocolError)),
    ConformanceRow(
      "4.3 unknown frame within a block of headers", block([0x83], flags: 1) + unknown(1),
      .connectionError(.protocolError)),
    ConformanceRow(
      "5.1 DATA on an idle stream", TestFrame.bytes(.data, stream: 1, [1]), .connectionError(.protocolError)),
    ConformanceRow(
      "5.1 RST_STREAM on an idle stream", TestFrame.bytes(.reset, stream: 1, [0, 0, 0, 8]),
      .connectionError(.protocolError)),
    ConformanceRow(
      "5.1 WINDOW_UPDATE on an idle stream", TestFrame.bytes(.window, stream: 1, [0, 0, 0, 1]),
      .connectionError(.protocolError)),
    ConformanceRow(
      "5.1 CONTINUATION on an idle stream", TestFrame.bytes(.continuation, flags: 4, stream: 1, [0x83]),
      .connectionError(.protocolError)),
    ConformanceRow(
      "5.1 PRIORITY on an idle stream", TestFrame.bytes(.priority, stream: 7, [0, 0, 0, 0, 1]), .accepted),
    ConformanceRow(
      "5.1 PRIORITY on a closed stream", open + request + TestFrame.bytes(.priority, stream: 1, [0, 0, 0, 0, 1]),
      .accepted),
    ConformanceRow(
      "5.1 WINDOW_UPDATE and RST_STREAM on a closed stream",
      open + request + TestFrame.bytes(.window, stream: 1, [0, 0, 0, 1])
        + TestFrame.bytes(.reset, stream: 1, [0, 0, 0, 8]), .accepted),
    ConformanceRow("5.1.1 stream with an even number", TestFrame.headers(2, head), .connectionError(.protocolError)),
    ConformanceRow("5.1.1 stream 0", TestFrame.headers(0, head), .connectionError(.protocolError)),
    ConformanceRow(
      "5.1.1 unused stream with a lower number", TestFrame.headers(5, head) + open, .connectionError(.protocolError)),
    ConformanceRow("5.1.1 stream with a number that was used", open + request + open, .connectionError(.protocolError)),
    ConformanceRow(
      "6.1 padding within the frame", open + TestFrame.bytes(.data, flags: 8, stream: 1, [2, 0, 0, 0]), .accepted),
    ConformanceRow(
      "6.1 padding as long as the frame", open + TestFrame.bytes(.data, flags: 8, stream: 1, [4, 0, 0, 0]),
      .connectionError(.protocolError)),
    ConformanceRow(
      "6.1 padded DATA without a length", open + TestFrame.bytes(.data, flags: 8, stream: 1),
      .connectionError(.frameSizeError)),
    ConformanceRow(
      "6.2 HEADERS with padding and priority", block([1, 0, 0, 0, 0, 16] + literals(head) + [0], flags: 4 | 8 | 0x20),
      .accepted),
    ConformanceRow(
      "6.2 padding as long as the frame", block([9, 0x83], flags: 4 | 8), .connectionError(.protocolError)),
    ConformanceRow(
      "6.2 priority that does not fit", block([0, 0, 0], flags: 4 | 0x20), .connectionError(.frameSizeError)),
    ConformanceRow(
      "6.3 PRIORITY of 4 bytes", open + TestFrame.bytes(.priority, stream: 1, [0, 0, 0, 1]),
      .connectionError(.frameSizeError)),
    ConformanceRow(
      "6.4 RST_STREAM of 3 bytes", open + TestFrame.bytes(.reset, stream: 1, [0, 0, 8]),
      .connectionError(.frameSizeError)),
    ConformanceRow("6.5.2 unknown setting", TestFrame.setting(0x77, 1), .accepted),
    ConformanceRow("6.5.2 ENABLE_PUSH 1", TestFrame.setting(2, 1), .accepted),
    ConformanceRow("6.5.2 ENABLE_PUSH 2", TestFrame.setting(2, 2), .connectionError(.protocolError)),
    ConformanceRow("6.5.2 MAX_FRAME_SIZE 16 383", TestFrame.setting(5, 16_383), .connectionError(.protocolError)),
    ConformanceRow("6.5.2 MAX_FRAME_SIZE 2^24", TestFrame.setting(5, 1 << 24), .connectionError(.protocolError)),
    ConformanceRow("6.5.2 MAX_FRAME_SIZE 2^24 - 1", TestFrame.setting(5, (1 << 24) - 1), .accepted),
    ConformanceRow(
      "6.6 PUSH_PROMISE of a client", open + TestFrame.bytes(.push, flags: 4, stream: 1, [0, 0, 0, 2]),
      .connectionError(.protocolError)),
    ConformanceRow(
      "6.7 PING of 7 bytes", TestFrame.bytes(.ping, [1, 2, 3, 4, 5, 6, 7]), .connectionError(.frameSizeError)),
    ConformanceRow("6.8 GOAWAY", TestFrame.bytes(.goAway, [0, 0, 0, 0, 0, 0, 0, 0]), .accepted),
    ConformanceRow(
      "6.9 window of a stream grows by 0", open + TestFrame.bytes(.window, stream: 1, [0, 0, 0, 0]),
      .connectionError(.protocolError)),
    ConformanceRow(
      "6.9 WINDOW_UPDATE of 3 bytes", TestFrame.bytes(.window, [0, 0, 1]), .connectionError(.frameSizeError)),
    ConformanceRow(
      "6.9.1 window of the connection above 2^31 - 1", TestFrame.bytes(.window, [0x7f, 0xff, 0xff, 0xff]),
      .connectionError(.flowControlError)),
    ConformanceRow(
      "6.9.1 window of a stream above 2^31 - 1", open + TestFrame.bytes(.window, stream: 1, [0x7f, 0xff, 0xff, 0xff]),
      .connectionError(.flowControlError)),
    ConformanceRow(
      "6.9.2 INITIAL_WINDOW_SIZE takes a window above 2^31 - 1",
      TestFrame.setting(4, 1) + open + TestFrame.bytes(.window, stream: 1, [0x7f, 0xff, 0xff, 0xfe])
        + TestFrame.setting(4, 2), .connectionError(.flowControlError)),
    ConformanceRow(
      "6.10 CONTINUATION on stream 0", block([0x83], flags: 1) + TestFrame.bytes(.continuation, flags: 4, [0x84]),
      .connectionError(.protocolError)),
    ConformanceRow(
      "6.10 CONTINUATION after the end of headers", open + TestFrame.bytes(.continuation, flags: 4, stream: 1, [0x84]),
      .connectionError(.protocolError)),
    ConformanceRow(
      "6.10 CONTINUATION after DATA",
      open + TestFrame.bytes(.data, stream: 1, [0]) + TestFrame.bytes(.continuation, flags: 4, stream: 1, [0x84]),
      .connectionError(.protocolError)),
    ConformanceRow("RFC 7541 2.3.3 index beyond the table", block([0xc6]), .connectionError(.compressionError)),
    ConformanceRow(
      "RFC 7541 4.2 size of the table after a field", block([0x83, 0x20]), .connectionError(.compressionError)),
    ConformanceRow(
      "RFC 7541 5.1 number that does not end",
      block([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]),
      .connectionError(.compressionError)),
    ConformanceRow(
      "RFC 7541 5.2 text that does not fit", block([0x00, 0x7f, 0x01, 0x61]), .connectionError(.compressionError)),
    ConformanceRow(
      "RFC 7541 5.2 Huffman padding of 8 bits", block([0x00, 0x82, 0x1f, 0xff, 0x01, 0x61]),
      .connectionError(.compressionError)),
    ConformanceRow(
      "RFC 7541 5.2 Huffman padding of zeros", block([0x00, 0x81, 0x18, 0x01, 0x61]),
      .connectionError(.compressionError)),
    ConformanceRow(
      "RFC 7541 5.2 end-of-string symbol in a text", block([0x00, 0x84, 0xff, 0xff, 0xff, 0xff, 0x01, 0x61]),
      .connectionError(.compressionError)),
    ConformanceRow("RFC 7541 6.1 index 0", block([0x80]), .connectionError(.compressionError)),
    ConformanceRow(
      "RFC 7541 6.3 size of the table above the limit", block([0x3f, 0xe2, 0xff, 0x03, 0x83]),
      .connectionError(.compressionError)),
  ]

  @Test("The server reacts to each frame as RFC 9113 specifies", arguments: frames + ConformanceRow.ofEitherEnd)
  func frame(_ row: ConformanceRow) throws {
    let connection = try TestConnection(CallPipeline(try makeService(), on: loop), on: loop)
    try connection.send(row.bytes)
    let reaction = ConformanceRow.reaction(in: try connection.frames(), isActive: connection.channel.isActive)
    #expect(reaction == row.reaction)
    if row.reaction == .accepted { try expectService(on: connection) }
  }

  /// The connection answers another call.
  private func expectService(on connection: TestConnection) throws {
    try connection.send(99, .headers(.call("GetDocument")), .data(PromptCallTests.getRequest))
    #expect(try connection.summaries() == ["END 5"])
  }

  static let beginnings: [ConformanceRow] = [
    ConformanceRow(
      "3.4 another preface", Array("PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n".utf8), .connectionError(.protocolError)),
    ConformanceRow("3.4 a frame before SETTINGS", TestConnection.preface + ping, .connectionError(.protocolError)),
    ConformanceRow(
      "3.4 an acknowledgement before SETTINGS", TestConnection.preface + TestFrame.bytes(.settings, flags: 1),
      .connectionError(.protocolError)),
    ConformanceRow(
      "3.4 the preface and empty SETTINGS", TestConnection.preface + TestFrame.bytes(.settings), .accepted),
  ]

  @Test("The server requires the preface and SETTINGS first, as RFC 9113 specifies", arguments: beginnings)
  func beginning(_ row: ConformanceRow) throws {
    let channel = EmbeddedChannel(loop: loop)
    let pipeline = CallPipeline(try makeService(), on: loop)
    channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
    try pipeline.configure(channel, pipeline.connection(on: loop))
    try channel.writeInbound(ByteBuffer(bytes: row.bytes))
    loop.run()
    var received = ByteBuffer()
    while var bytes = try channel.readOutbound(as: ByteBuffer.self) { received.writeBuffer(&bytes) }
    #expect(
      ConformanceRow.reaction(in: try TestFrame.take(from: &received), isActive: channel.isActive) == row.reaction)
  }

  @Test("A frame after the end of its request closes the connection", arguments: [TestFrame.Kind.data, .headers])
  func halfClosed(_ kind: TestFrame.Kind) throws {
    let connection = try TestConnection(CallPipeline(try makeServedService(), on: loop), on: loop, window: 0)
    try connection.send(Self.open + Self.request)
    #expect(try connection.summaries() == ["HEADERS"])
    try connection.send(TestFrame.bytes(kind, flags: 4, stream: 1, kind == .data ? [1] : literals([("a", "b")])))
    #expect(
      ConformanceRow.reaction(in: try connection.frames(), isActive: connection.channel.isActive)
        == .connectionError(.streamClosed))
  }

  private func makeServedService() throws -> FirestoreService {
    let backend = try makeBackend()
    try backend.set("c/a", "here")
    return FirestoreService(backend: backend)
  }

  // MARK: Requests

  struct Head: Sendable, CustomStringConvertible {
    let description: String
    let fields: [(String, String)]
  }

  /// The head of a call with some fields replaced, and others added at the end.
  private static func with(_ fields: (String, String)...) -> [(String, String)] {
    let replaced = head.map { field in fields.first { $0.0 == field.0 } ?? field }
    return replaced + fields.filter { field in !head.contains { $0.0 == field.0 } }
  }

  private static func without(_ name: String) -> [(String, String)] { head.filter { $0.0 != name } }

  static let malformedHeads: [Head] = [
    Head(description: "8.2.1 capital letter in a name", fields: with(("Abc", "d"))),
    Head(description: "8.2.1 blank in a name", fields: with(("a b", "c"))),
    Head(description: "8.2.1 colon within a name", fields: with(("a:b", "c"))),
    Head(description: "8.2.1 byte above 0x7e in a name", fields: with(("caf\u{e9}", "c"))),
    Head(description: "8.2.1 NUL in a value", fields: with(("a", "b\0c"))),
    Head(description: "8.2.1 LF in a value", fields: with(("a", "b\nc"))),
    Head(description: "8.2.1 CR in a value", fields: with(("a", "b\rc"))),
    Head(description: "8.2.1 blank before a value", fields: with(("a", " b"))),
    Head(description: "8.2.1 blank after a value", fields: with(("a", "b "))),
    Head(description: "8.2.1 tab after a value", fields: with(("a", "b\t"))),
    Head(description: "8.2.1 LF in a path", fields: with((":path", "/a\nb"))),
    Head(description: "8.2.1 NUL in a path", fields: with((":path", "/a\0b"))),
    Head(description: "8.2.2 connection", fields: with(("connection", "close"))),
    Head(description: "8.2.2 keep-alive", fields: with(("keep-alive", "1"))),
    Head(description: "8.2.2 proxy-connection", fields: with(("proxy-connection", "close"))),
    Head(description: "8.2.2 transfer-encoding", fields: with(("transfer-encoding", "chunked"))),
    Head(description: "8.2.2 upgrade", fields: with(("upgrade", "h2c"))),
    Head(description: "8.2.2 te other than trailers", fields: with(("te", "gzip"))),
    Head(description: "8.3 unknown pseudo-header", fields: [(":test", "a")] + head),
    Head(description: "8.3 pseudo-header of responses", fields: [(":status", "200")] + head),
    Head(description: "8.3 pseudo-header after a field", fields: [("a", "b")] + head),
    Head(description: "8.3.1 no method", fields: without(":method")),
    Head(description: "8.3.1 no scheme", fields: without(":scheme")),
    Head(description: "8.3.1 no path", fields: without(":path")),
    Head(description: "8.3.1 two methods", fields: [(":method", "GET")] + head),
    Head(description: "8.3.1 two schemes", fields: [(":scheme", "http")] + head),
    Head(description: "8.3.1 two paths", fields: [(":path", "/")] + head),
    Head(description: "8.3.1 two authorities", fields: [(":authority", "localhost")] + head),
    Head(description: "8.3.1 empty path", fields: with((":path", ""))),
    Head(description: "8.3.1 path without a slash", fields: with((":path", "a"))),
    Head(description: "8.3.1 asterisk as the path of a POST", fields: with((":path", "*"))),
    Head(description: "8.3.1 blank in a method", fields: with((":method", "GET /"))),
    Head(description: "8.3.1 empty method", fields: with((":method", ""))),
    Head(description: "8.3.1 Host other than the authority", fields: with(("host", "example.com"))),
    Head(description: "8.3.1 user in the authority", fields: with((":authority", "u@localhost"))),
    Head(description: "8.5 CONNECT", fields: [(":method", "CONNECT"), (":authority", "localhost:1")]),
    Head(description: "8.1.1 content-length that is no number", fields: with(("content-length", "abc"))),
    Head(description: "8.1.1 content-length with a sign", fields: with(("content-length", "+57"))),
    Head(description: "8.1.1 content-length below zero", fields: with(("content-length", "-9223372036854775808"))),
    Head(description: "8.1.1 content-length above 2^63", fields: with(("content-length", "9223372036854775808"))),
    Head(description: "8.1.1 two content-lengths", fields: with(("content-length", "57"), ("content-length", "58"))),
    Head(description: "8.1.1 content-length below the body", fields: with(("content-length", "1"))),
    Head(description: "8.1.1 content-length above the body", fields: with(("content-length", "1000"))),
  ]

  @Test("A malformed request is rejected on its stream only", arguments: malformedHeads)
  func malformed(_ head: Head) throws {
    let connection = try TestConnection(CallPipeline(try makeService(), on: loop), on: loop)
    try connection.send(TestFrame.headers(1, head.fields) + Self.request)
    let reaction = ConformanceRow.reaction(in: try connection.frames(), isActive: connection.channel.isActive)
    #expect(reaction == .streamError(.protocolError))
    try expectService(on: connection)
  }

  static let wellFormedHeads: [Head] = [
    Head(description: "Host that equals the authority", fields: with(("host", "LOCALHOST"))),
    Head(description: "te: trailers", fields: with(("te", "trailers"))),
    Head(
      description: "content-length of the body", fields: with(("content-length", "\(PromptCallTests.getRequest.count)"))
    ),
    Head(description: "Host without an authority", fields: without(":authority") + [("host", "localhost")]),
    Head(description: "empty value", fields: with(("a", ""))),
    Head(description: "timeout that is no timeout", fields: with(("grpc-timeout", "-9223372036854775808S"))),
    Head(description: "timeout of eight digits", fields: with(("grpc-timeout", "99999999H"))),
  ]

  @Test("An unusual request that is well formed is accepted", arguments: wellFormedHeads)
  func wellFormed(_ head: Head) throws {
    let connection = try TestConnection(CallPipeline(try makeService(), on: loop), on: loop)
    try connection.send(TestFrame.headers(1, head.fields) + Self.request)
    #expect(try connection.summaries() == ["END 5"])
  }

  @Test(
    "Trailers with pseudo-headers, invalid fields or no end are rejected",
    arguments: [([(":path", "/")], true), ([("A", "b")], true), ([("a", "b")], false)])
  func trailers(_ fields: [(String, String)], isLast: Bool) throws {
    let connection = try TestConnection(CallPipeline(try makeService(), on: loop), on: loop)
    let data = TestFrame.bytes(.data, stream: 1, PromptCallTests.getRequest)
    try connection.send(Self.open + data + TestFrame.headers(1, fields, isLast: isLast))
    let reaction = ConformanceRow.reaction(in: try connection.frames(), isActive: connection.channel.isActive)
    #expect(reaction == .streamError(.protocolError))
    try expectService(on: connection)
  }

  @Test("A PING is acknowledged with its content, and an acknowledgement is not answered")
  func pings() throws {
    let connection = try TestConnection(CallPipeline(try makeService(), on: loop), on: loop)
    try connection.send(Self.ping + TestFrame.bytes(.ping, flags: 1, [8, 7, 6, 5, 4, 3, 2, 1]))
    #expect(try connection.frames().map(\.bytes) == [[1, 2, 3, 4, 5, 6, 7, 8]])
  }

  @Test("A stream above the limit is refused")
  func concurrency() throws {
    let connection = try TestConnection(CallPipeline(try makeService(), on: loop, .network), on: loop)
    for number in 0...100 { try connection.send(TestFrame.headers(2 * number + 1, Self.head)) }
    let frames = try connection.frames()
    #expect(ConformanceRow.reaction(in: frames, isActive: connection.channel.isActive) == .streamError(.refusedStream))
  }

  // MARK: gRPC

  @Test("A call with too much metadata fails, and later calls succeed")
  func largeHead() throws {
    let connection = try TestConnection(CallPipeline(try makeService(), on: loop), on: loop)
    let large = Self.with(("x", String(repeating: "x", count: 20_000)))
    var block = literals(large)
    try connection.send(TestFrame.bytes(.headers, stream: 1, block.prefix(16_000)))
    block.removeFirst(16_000)
    try connection.send(TestFrame.bytes(.continuation, flags: 4, stream: 1, block))
    #expect(try connection.summaries() == ["END 8", "RESET"])
    try expectService(on: connection)
  }

  @Test("A Listen that ends within a message is an error")
  func cutListen() throws {
    let connection = try TestConnection(CallPipeline(try makeService(), on: loop), on: loop)
    try connection.send(1, .headers(.call("Listen")), .data([0, 0, 0, 0, 9, 1]))
    #expect(try connection.summaries() == ["HEADERS", "END 3"])
  }
}
