// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import FirestoreService
import FirestoreTesting
import NIOCore
import NIOEmbedded
import NIOHPACK
import NIOHTTP2
import ServerTesting
import Testing

@testable import FirestoreServer

/// Calls that have a channel of their own: who serves them, and Listen.
@Suite struct ListenCallTests {
  private let loop = EmbeddedEventLoop()
  private let backend: LocalBackend

  init() throws { backend = try makeBackend() }

  private func open() throws -> EmbeddedChannel {
    let (service, budget) = (FirestoreService(backend: backend), ConnectionBudget(on: loop))
    return try .connected(
      CallHandler(service, nil, DeliveryTurn(loop), budget),
      loop: loop)
  }

  private static let addTarget = framed { writer in
    writer.field(1, string: database.name)
    writer.field(2) { writer in
      writer.field(3) { $0.field(2, string: database.documentsName + "/c/a") }
      writer.field(5, varint: 2)
    }
  }

  private func sent(_ channel: EmbeddedChannel) throws -> [String] {
    loop.run()
    return try channel.sentPayloads().map(\.summary)
  }

  @Test(
    "What is no call is refused in the words of HTTP or gRPC",
    arguments: [
      (":method", "GET", [":status: 405", "allow: POST"]),
      ("content-type", "application/json", [":status: 415"]),
      (
        "grpc-encoding", "gzip",
        [
          ":status: 200", "content-type: application/grpc", "grpc-status: 12",
          "grpc-message: Compressed messages are not supported.", "grpc-accept-encoding: identity",
        ]
      ),
      (
        ":path", "/google.firestore.v1.Firestore/Nothing",
        [
          ":status: 200", "content-type: application/grpc", "grpc-status: 12",
          "grpc-message: There is no method /google.firestore.v1.Firestore/Nothing here.",
        ]
      ),
      (
        ":path", "/other.Service/Listen",
        [
          ":status: 200", "content-type: application/grpc", "grpc-status: 12",
          "grpc-message: There is no method /other.Service/Listen here.",
        ]
      ),
    ])
  func refused(name: String, value: String, answer: [String]) throws {
    let channel = try open()
    var headers = HPACKHeaders.call("GetDocument")
    headers.replaceOrAdd(name: name, value: value)
    try channel.writeInbound(HTTP2Frame.FramePayload.headers(headers))
    let payloads = try channel.sentPayloads()
    guard case .headers(let response)? = payloads.first else { return #expect(Bool(false), "no headers") }
    #expect(response.headers.lines == answer && response.endStream)
    #expect(payloads.last?.summary == "RESET" && !channel.isActive)
  }

  @Test("A listener is greeted, and told at the next turn what a commit means to it")
  func changes() throws {
    let channel = try open()
    try channel.writeInbound(HTTP2Frame.FramePayload.headers(.call("Listen")))
    #expect(try sent(channel) == ["HEADERS"])
    try channel.writeInbound(HTTP2Frame.FramePayload.data(Self.addTarget, isLast: false))
    #expect(try sent(channel).contains("DATA"))
    try backend.set("c/a", "first")
    try backend.set("c/a", "second")
    #expect(try channel.sentPayloads().isEmpty)
    loop.run()
    let bytes = try channel.sentPayloads().flatMap(\.bytes)
    #expect(bytes.containsText("second") && !bytes.containsText("first"))

    try channel.writeInbound(HTTP2Frame.FramePayload.data([]))
    #expect(try sent(channel) == ["END 0"])
    #expect(!channel.isActive && backend.openWatches == 0)
  }

  @Test("A listener that does not read is told the newest state once it does, not every change")
  func slow() throws {
    let channel = try open()
    try channel.writeInbound(HTTP2Frame.FramePayload.headers(.call("Listen")))
    try channel.writeInbound(HTTP2Frame.FramePayload.data(Self.addTarget, isLast: false))
    _ = try sent(channel)
    channel.isWritable = false
    for number in 0..<1_000 { try backend.set("c/a", "change \(number)") }
    #expect(try sent(channel).isEmpty)

    channel.isWritable = true
    channel.pipeline.fireChannelWritabilityChanged()
    loop.run()

    let bytes = try channel.sentPayloads().flatMap(\.bytes)
    #expect(bytes.containsText("change 999") && bytes.count < 500)
    _ = try? channel.finish()
    #expect(backend.openWatches == 0)
  }

  @Test("A Listen call that ends badly ends at once, and tells a client that is still speaking")
  func failure() throws {
    let channel = try open()
    try channel.writeInbound(HTTP2Frame.FramePayload.headers(.call("Listen")))
    try channel.writeInbound(HTTP2Frame.FramePayload.data(framed { $0.field(1, string: "x") }, isLast: false))
    #expect(try sent(channel) == ["HEADERS", "END 3", "RESET"])
    #expect(!channel.isActive)
  }

  @Test("A Listen call ends when its caller would wait no longer, is gone, or the server shuts down")
  func ends() throws {
    var headers = HPACKHeaders.call("Listen")
    headers.add(name: "grpc-timeout", value: "20m")
    let overdue = try open()
    try overdue.writeInbound(HTTP2Frame.FramePayload.headers(headers))
    loop.advanceTime(by: .milliseconds(20))
    #expect(try sent(overdue) == ["HEADERS", "END 4", "RESET"])

    for payload in [HTTP2Frame.FramePayload.rstStream(.cancel), .data([])] {
      let channel = try open()
      try channel.writeInbound(HTTP2Frame.FramePayload.headers(.call("Listen")))
      try channel.writeInbound(HTTP2Frame.FramePayload.data(Self.addTarget, isLast: false))
      #expect(backend.openWatches == 1)
      try channel.writeInbound(payload)
      #expect(backend.openWatches == 0)
    }

    let stopped = try open()
    try stopped.writeInbound(HTTP2Frame.FramePayload.headers(.call("Listen")))
    try stopped.writeInbound(HTTP2Frame.FramePayload.data(Self.addTarget, isLast: false))
    _ = try sent(stopped)
    backend.assumeIsolated { $0.endWatches(GRPCFraming.isShuttingDown) }
    #expect(try sent(stopped) == ["END 14", "RESET"])
  }
}
