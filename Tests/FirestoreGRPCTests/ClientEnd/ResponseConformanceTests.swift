// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import NIOCore
import NIOEmbedded
import NIOHPACK
import ServerTesting
import Testing

@testable import FirestoreGRPC

/// The rules of HTTP/2 and gRPC that a server can break, one row each. PROTOCOL.md lists those that the client leaves out.
@Suite struct ResponseConformanceTests {
  private static let head = [(":status", "200"), ("content-type", "application/grpc")]
  private static let ping = TestFrame.bytes(.ping, [1, 2, 3, 4, 5, 6, 7, 8])
  private static let open = TestFrame.headers(1, head)
  private static let unknown: [UInt8] = [0, 0, 1, 0x16, 0xff, 0, 0, 0, 1, 9]

  private static func block(_ bytes: [UInt8], flags: UInt8 = 4) -> [UInt8] {
    TestFrame.bytes(.headers, flags: flags, stream: 1, bytes)
  }

  // MARK: The connection

  static let frames: [ConformanceRow] = [
    ConformanceRow("4.1 unknown kind of frame", unknown, .accepted),
    ConformanceRow(
      "4.2 DATA of 16 385 bytes", open + TestFrame.bytes(.data, stream: 1, [UInt8](repeating: 0, count: 16_385)),
      .connectionError(.frameSizeError)),
    ConformanceRow(
      "4.3 DATA within a block of headers", block([0x88], flags: 0) + TestFrame.bytes(.data, stream: 1, [1]),
      .connectionError(.protocolError)),
    ConformanceRow(
      "4.3 unknown frame within a block of headers", block([0x88], flags: 0) + unknown, .connectionError(.protocolError)
    ),
    ConformanceRow(
      "5.1 DATA on an idle stream", TestFrame.bytes(.data, stream: 5, [1]), .connectionError(.protocolError)),
    ConformanceRow("5.1 HEADERS on an idle stream", TestFrame.headers(5, head), .connectionError(.protocolError)),
    ConformanceRow(
      "5.1 RST_STREAM on an idle stream", TestFrame.bytes(.reset, stream: 5, [0, 0, 0, 8]),
      .connectionError(.protocolError)),
    ConformanceRow(
      "5.1 WINDOW_UPDATE on an idle stream", TestFrame.bytes(.window, stream: 5, [0, 0, 0, 1]),
      .connectionError(.protocolError)),
    ConformanceRow("5.1.1 stream of the server", TestFrame.headers(2, head), .connectionError(.protocolError)),
    ConformanceRow(
      "6.1 padding as long as the frame", open + TestFrame.bytes(.data, flags: 8, stream: 1, [4, 0, 0, 0]),
      .connectionError(.protocolError)),
    ConformanceRow("6.2 HEADERS on stream 0", TestFrame.headers(0, head), .connectionError(.protocolError)),
    ConformanceRow(
      "6.3 PRIORITY of 4 bytes", TestFrame.bytes(.priority, stream: 1, [0, 0, 0, 1]), .connectionError(.frameSizeError)),
    ConformanceRow(
      "6.4 RST_STREAM of 3 bytes", TestFrame.bytes(.reset, stream: 1, [0, 0, 8]), .connectionError(.frameSizeError)),
    ConformanceRow("6.5.2 ENABLE_PUSH 0", TestFrame.setting(2, 0), .accepted),
    ConformanceRow("6.5.2 ENABLE_PUSH 1", TestFrame.setting(2, 1), .connectionError(.protocolError)),
    ConformanceRow("6.5.2 MAX_FRAME_SIZE 100", TestFrame.setting(5, 100), .connectionError(.protocolError)),
    ConformanceRow("6.5.2 MAX_CONCURRENT_STREAMS 2^32 - 1", TestFrame.setting(3, .max), .accepted),
    ConformanceRow("6.5.2 HEADER_TABLE_SIZE 2^32 - 1", TestFrame.setting(1, .max), .accepted),
    ConformanceRow(
      "6.6 PUSH_PROMISE", open + TestFrame.bytes(.push, flags: 4, stream: 1, [0, 0, 0, 2]),
      .connectionError(.protocolError)),
    ConformanceRow(
      "6.7 PING of 9 bytes", TestFrame.bytes(.ping, [UInt8](repeating: 0, count: 9)), .connectionError(.frameSizeError)),
    ConformanceRow(
      "6.9.1 window of a stream above 2^31 - 1", TestFrame.bytes(.window, stream: 1, [0x7f, 0xff, 0xff, 0xff]),
      .connectionError(.flowControlError)),
    ConformanceRow(
      "6.10 CONTINUATION after the end of headers", open + TestFrame.bytes(.continuation, flags: 4, stream: 1, [0x88]),
      .connectionError(.protocolError)),
    ConformanceRow("RFC 7541 2.3.3 index beyond the table", block([0xc6]), .connectionError(.compressionError)),
    ConformanceRow(
      "RFC 7541 4.2 size of the table after a field", block([0x88, 0x20]), .connectionError(.compressionError)),
    ConformanceRow(
      "RFC 7541 5.2 end-of-string symbol in a text", block([0x00, 0x84, 0xff, 0xff, 0xff, 0xff, 0x01, 0x61]),
      .connectionError(.compressionError)),
    ConformanceRow("RFC 7541 6.1 index 0", block([0x80]), .connectionError(.compressionError)),
  ]

  @Test("The client reacts to each frame as RFC 9113 specifies", arguments: frames + ConformanceRow.ofEitherEnd)
  func frame(_ row: ConformanceRow) throws {
    let peer = try HandmadePeer()
    _ = try (peer.begin(), peer.begin())
    _ = try peer.frames()
    try peer.send(row.bytes)
    #expect(ConformanceRow.reaction(in: try peer.frames(), isActive: peer.channel.isActive) == row.reaction)
  }

  // MARK: Responses

  /// A response in pieces, and the outcome of its call.
  struct Response: Sendable, CustomStringConvertible {
    let name: String
    let bytes: [UInt8]
    let outcome: String

    init(_ name: String, _ outcome: String, _ pieces: [UInt8]...) {
      (self.name, self.outcome, bytes) = (name, outcome, Array(pieces.joined()))
    }

    var description: String { name }
  }

  private static func last(_ fields: [(String, String)]) -> [UInt8] { TestFrame.headers(1, fields, isLast: true) }
  private static func data(_ bytes: [UInt8]) -> [UInt8] { TestFrame.bytes(.data, stream: 1, bytes) }
  private static let success = last([("grpc-status", "0")])
  private static func status(_ text: String) -> [UInt8] { last([(":status", text), ("content-type", "text/html")]) }

  static let responses: [Response] = [
    Response("trailers alone", "success", last(head + [("grpc-status", "0")])),
    Response("head, message, trailers", "success", open, data([0, 0, 0, 0, 1, 7]), success),
    Response("interim responses", "success", TestFrame.headers(1, [(":status", "103")]), open, success),
    Response("8.1 interim response that ends", "malformed", last([(":status", "100")])),
    Response("8.6 status 101", "malformed", TestFrame.headers(1, [(":status", "101")])),
    Response("8.1 interim response after the head", "malformed", open, TestFrame.headers(1, [(":status", "103")])),
    Response("8.1 second head", "malformed", open, open),
    Response("8.1 trailers that do not end", "malformed", open, TestFrame.headers(1, [("grpc-status", "0")])),
    Response("8.1 headers between messages", "malformed", open, TestFrame.headers(1, [("a", "b")])),
    Response("8.1 pseudo-header in trailers", "malformed", open, last([(":status", "200"), ("grpc-status", "0")])),
    Response("8.1 trailers without a head", "malformed", success),
    Response("8.2.1 capital letter in a name", "malformed", TestFrame.headers(1, head + [("Abc", "d")])),
    Response("8.2.1 LF in a value", "malformed", TestFrame.headers(1, head + [("a", "b\nc")])),
    Response(
      "blanks around a message", "notFound", open, last([("grpc-status", "5"), ("grpc-message", " a ")])),
    Response("8.2.2 connection", "malformed", TestFrame.headers(1, head + [("connection", "close")])),
    Response("8.2.2 transfer-encoding", "malformed", TestFrame.headers(1, head + [("transfer-encoding", "chunked")])),
    Response("8.3 pseudo-header of requests", "malformed", TestFrame.headers(1, [(":path", "/")] + head)),
    Response("8.3 pseudo-header after a field", "malformed", TestFrame.headers(1, Array(head.reversed()))),
    Response("8.3.2 two statuses", "malformed", TestFrame.headers(1, [(":status", "200")] + head)),
    Response("8.3.2 no status", "httpAnswer(0)", TestFrame.headers(1, [("content-type", "application/grpc")])),
    Response("message cut short", "withinMessage", open, data([0, 0, 0, 0, 9, 7]), success),
    Response("prefix cut short", "withinMessage", open, data([0, 0]), success),
    Response("message cut short by an error", "notFound", open, data([0, 0]), last([("grpc-status", "5")])),
    Response("status of gRPC in a response of HTTP", "unavailable", last([(":status", "503"), ("grpc-status", "14")])),
    Response("status below zero", "httpAnswer(0)", status("-5")),
    Response("status of 20 digits", "httpAnswer(0)", status("99999999999999999999")),
    Response("least integer as status", "httpAnswer(0)", status("-9223372036854775808")),
    Response("largest integer as status", "httpAnswer(0)", status("9223372036854775807")),
    Response("status with a sign", "httpAnswer(0)", status("+20")),
    Response("status 99", "httpAnswer(0)", status("099")),
    Response("status 600", "httpAnswer(0)", status("600")),
    Response("status of letters", "httpAnswer(0)", status("abc")),
    Response("empty status", "httpAnswer(0)", status("")),
    Response("status of four digits", "httpAnswer(0)", status("2000")),
    Response("status in other digits", "httpAnswer(0)", status("２００")),
    Response("status 404", "httpAnswer(404)", status("404")),
    Response("grpc-status below zero", "unknown", open, last([("grpc-status", "-1")])),
    Response("grpc-status of 20 digits", "unknown", open, last([("grpc-status", "99999999999999999999")])),
    Response("grpc-status of letters", "unknown", open, last([("grpc-status", "abc")])),
    Response("grpc-status 17", "unknown", open, last([("grpc-status", "17")])),
    Response(
      "content-length below zero", "success", TestFrame.headers(1, head + [("content-length", "-9223372036854775808")]),
      success),
    Response(
      "pushback below zero", "unavailable", open,
      last([("grpc-status", "14"), ("grpc-retry-pushback-ms", "-9223372036854775808")])),
  ]

  @Test("The client reads a valid response and rejects an invalid one", arguments: responses)
  func response(_ row: Response) throws {
    let peer = try HandmadePeer()
    let (call, other) = try (peer.begin(), peer.begin())
    _ = try peer.frames()
    try peer.send(row.bytes)
    _ = call.taken()
    #expect(call.outcome == row.outcome)
    #expect(peer.channel.isActive && other.outcome == nil)
  }

  @Test("Every failed response has an error message", arguments: responses)
  func text(_ row: Response) throws {
    let peer = try HandmadePeer()
    let call = try peer.begin()
    try peer.send(row.bytes)
    _ = call.taken()
    guard case .failure(let error)? = call.inbox.takeWaiting().1 else { return }
    let endpoint = Endpoint(host: "localhost", port: 80, security: .plaintext)
    let status = CallFailure.status(of: error, at: endpoint, .emulatorOwner)
    #expect(status.code != .ok && !status.message.contains("\n"))
  }

  // MARK: Endless responses

  @Test("Endless interim responses end the call")
  func interims() throws {
    let peer = try HandmadePeer()
    let call = try peer.begin()
    for _ in 0..<100 { try peer.send(TestFrame.headers(1, [(":status", "103")])) }
    #expect(call.outcome == nil)
    try peer.send(TestFrame.headers(1, [(":status", "103")]))
    #expect(call.outcome == "malformed")
  }

  @Test("Endless empty messages end the call")
  func emptyMessages() throws {
    let peer = try HandmadePeer()
    let call = try peer.begin()
    try peer.send(Self.open)
    let messages = [UInt8](repeating: 0, count: 5 * 200)
    for _ in 0..<5 {
      try peer.send(Self.data(messages))
      _ = call.taken()
    }
    #expect(call.outcome == nil)
    try peer.send(Self.data(messages))
    _ = call.taken()
    #expect(call.outcome == "malformed")
  }

  @Test("A call with a deadline fails if no message arrives for a minute")
  func silence() throws {
    let peer = try HandmadePeer()
    let call = try peer.begin(timeout: .seconds(300))
    let stream = try peer.begin(nil)
    try peer.send(Self.open)
    for _ in 0..<3 {
      try pass(seconds: 50, peer)
      try peer.send(Self.data([0, 0, 0, 0, 1, 7]))
      #expect(call.taken() == [[7]] && call.outcome == nil)
    }
    try pass(seconds: 55, peer)
    #expect(call.outcome == nil)
    try pass(seconds: 10, peer)
    #expect(call.outcome == "withoutMessages" && stream.outcome == nil && peer.channel.isActive)
  }

  @Test(
    "A call fails after a minute if the server grants it no stream or no window",
    arguments: [[0, 3, 0, 0, 0, 0], [0, 4, 0, 0, 0, 0]] as [[UInt8]])
  func noRoom(_ setting: [UInt8]) throws {
    let peer = try HandmadePeer(settings: setting)
    let call = try peer.begin([1, 2, 3], timeout: .seconds(300))
    try pass(seconds: 55, peer)
    #expect(call.outcome == nil)
    try pass(seconds: 10, peer)
    #expect(call.outcome == "withoutMessages" && peer.channel.isActive)
  }

  @Test("A caller that stops reading is not mistaken for a silent server")
  func slowCaller() throws {
    let peer = try HandmadePeer()
    let call = try peer.begin(timeout: .seconds(300))
    try peer.send(Self.open)
    for _ in 0..<90 { try peer.send(Self.data(HandmadePeer.message(16_379))) }
    try pass(seconds: 200, peer)
    #expect(call.taken().count == 90 && call.outcome == nil)
    try pass(seconds: 105, peer)
    #expect(call.outcome == "overdue" || call.outcome == "withoutMessages")
  }

  private func pass(seconds: Int, _ peer: HandmadePeer) throws {
    for _ in 0..<seconds / 5 {
      peer.loop.advanceTime(by: .seconds(5))
      for ping in try peer.frames() where ping.kind == .ping { try peer.send(.ping, flags: 1, ping.bytes) }
    }
  }

  // MARK: PINGs

  @Test("A PING after a stream frame is not a flood")
  func measuringPings() throws {
    let peer = try HandmadePeer()
    let call = try peer.begin()
    try peer.send(Self.open)
    let piece = Self.data([0, 0, 0, 0, 1, 7]) + Self.ping
    for _ in 0..<30_000 {
      try peer.send(piece)
      _ = call.taken()
    }
    #expect(peer.channel.isActive && call.outcome == nil)
  }
}
