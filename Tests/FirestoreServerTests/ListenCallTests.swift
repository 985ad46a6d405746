// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import FirestoreService
import FirestoreTesting
import NIOCore
import NIOEmbedded
import NIOHPACK
import ServerTesting
import Testing

@testable import FirestoreServer

/// Calls that have a channel of their own: who serves them, and Listen.
@Suite struct ListenCallTests {
  private let loop = EmbeddedEventLoop()
  private let backend: LocalBackend

  init() throws { backend = try makeBackend() }

  private func open() throws -> TestConnection {
    try TestConnection(CallPipeline(FirestoreService(backend: backend), on: loop), on: loop)
  }

  static let addTarget = framed { writer in
    writer.field(1, string: database.name)
    writer.field(2) { writer in
      writer.field(3) { $0.field(2, string: database.documentsName + "/c/a") }
      writer.field(5, varint: 2)
    }
  }

  @Test(
    "A request that is not a call is rejected with an HTTP or gRPC error",
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
          "grpc-message: Unknown method /google.firestore.v1.Firestore/Nothing.",
        ]
      ),
      (
        ":path", "/other.Service/Listen",
        [
          ":status: 200", "content-type: application/grpc", "grpc-status: 12",
          "grpc-message: Unknown method /other.Service/Listen.",
        ]
      ),
    ])
  func refused(name: String, value: String, answer: [String]) throws {
    let connection = try open()
    var headers = HPACKHeaders(HPACKHeaders.call("GetDocument").map { ($0.name, $0.name == name ? value : $0.value) })
    if !headers.contains(name: name) { headers.add(name: name, value: value) }
    try connection.send(1, .headers(headers))
    let frames = try connection.frames()
    let response = try #require(frames.first)
    #expect(response.headers.lines == answer && response.isLast)
    #expect(frames.last?.kind == .reset && frames.last?.code == 0)
  }

  @Test("A listener gets its initial state, then each event-loop turn's commits together")
  func changes() throws {
    let connection = try open()
    try connection.send(1, .headers(.call("Listen")))
    #expect(try connection.summaries() == ["HEADERS"])
    try connection.send(1, .data(Self.addTarget, isLast: false))
    #expect(try connection.summaries().contains("DATA"))
    try backend.set("c/a", "first")
    try backend.set("c/a", "second")
    #expect(try connection.channel.readOutbound(as: ByteBuffer.self) == nil)
    let bytes = try connection.frames().flatMap(\.bytes)
    #expect(bytes.containsText("second") && !bytes.containsText("first"))

    try connection.send(1, .data([]))
    #expect(try connection.summaries() == ["END 0"])
    #expect(backend.openWatches == 0)
  }

  @Test("A listener that stops reading gets the newest state when it resumes")
  func slow() throws {
    let connection = try open()
    try connection.send(1, .headers(.call("Listen")), .data(Self.addTarget, isLast: false))
    _ = try connection.frames()
    connection.setWritable(false)
    for number in 0..<1_000 { try backend.set("c/a", "change \(number)") }
    #expect(try connection.frames().isEmpty)

    connection.setWritable(true)

    let bytes = try connection.frames().flatMap(\.bytes)
    #expect(bytes.containsText("change 999") && bytes.count < 500)
    _ = try? connection.channel.finish()
    #expect(backend.openWatches == 0)
  }

  @Test("A failed Listen call ends immediately and resets an open request")
  func failure() throws {
    let connection = try open()
    try connection.send(1, .headers(.call("Listen")), .data(framed { $0.field(1, string: "x") }, isLast: false))
    #expect(try connection.summaries() == ["HEADERS", "END 3", "RESET"])
  }

  @Test("A Listen call ends at its deadline, on disconnect and on shutdown")
  func ends() throws {
    var headers = HPACKHeaders.call("Listen")
    headers.add(name: "grpc-timeout", value: "20m")
    let overdue = try open()
    try overdue.send(1, .headers(headers))
    loop.advanceTime(by: .milliseconds(20))
    #expect(try overdue.summaries() == ["HEADERS", "END 4", "RESET"])

    for part in [TestConnection.Part.reset, .data([])] {
      let connection = try open()
      try connection.send(1, .headers(.call("Listen")), .data(Self.addTarget, isLast: false))
      #expect(backend.openWatches == 1)
      try connection.send(1, part)
      #expect(backend.openWatches == 0)
    }

    let stopped = try open()
    try stopped.send(1, .headers(.call("Listen")), .data(Self.addTarget, isLast: false))
    _ = try stopped.frames()
    backend.assumeIsolated { $0.endWatches(GRPCFraming.isShuttingDown) }
    #expect(try stopped.summaries() == ["END 14", "RESET"])
  }
}
