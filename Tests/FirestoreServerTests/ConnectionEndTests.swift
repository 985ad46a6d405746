// SPDX-License-Identifier: Apache-2.0
import FirestoreService
import HTTP2Frames
import NIOCore
import NIOEmbedded
import ServerTesting
import Testing

@testable import FirestoreServer

/// How a connection ends: announced, and behind its last call.
@Suite struct ConnectionEndTests {
  private let loop = EmbeddedEventLoop()
  private let connection: TestConnection

  init() throws { connection = try TestConnection(CallPipeline(try makeService(), on: loop), on: loop) }

  private func begin(_ stream: Int) throws { try connection.send(stream, .headers(.call("Listen"))) }

  /// Answers the PING that was sent.
  private func answer(_ frames: [TestFrame]) throws {
    for frame in frames where frame.kind == .ping { try connection.send(TestFrame.bytes(.ping, flags: 1, frame.bytes)) }
  }

  @Test("A shutdown is announced, finishes earlier calls and closes the connection")
  func quiesce() throws {
    try begin(1)
    #expect(try connection.summaries() == ["HEADERS"])
    connection.quiesce()
    let announcement = try connection.frames()
    #expect(announcement.map(\.summary) == ["GOAWAY max", "PING"])
    try begin(3)
    #expect(try connection.summaries() == ["HEADERS"])
    try answer(announcement)
    #expect(try connection.summaries() == ["GOAWAY 3"])
    try begin(5)
    #expect(try connection.frames().map(\.code) == [7])
    try connection.send(1, .data([]))
    #expect(try connection.summaries() == ["END 0"] && connection.channel.isActive)
    try connection.send(3, .data([]))
    #expect(try connection.summaries() == ["END 0"])
    #expect(!connection.channel.isActive)
  }

  @Test("During a shutdown an idle connection closes once the client answers its PING")
  func answers() throws {
    connection.quiesce()
    let announcement = try connection.frames()
    try connection.send(TestFrame.bytes(.ping, flags: 1, [UInt8](repeating: 1, count: 8)))
    #expect(connection.channel.isActive)
    try answer(announcement)
    #expect(try connection.summaries() == ["GOAWAY 0"] && !connection.channel.isActive)
  }

  @Test("A client that does not answer a shutdown is disconnected")
  func silence() throws {
    try begin(1)
    connection.quiesce()
    loop.advanceTime(by: .seconds(20))
    #expect(!connection.channel.isActive)
  }

  @Test("An idle connection gets GOAWAY after 10 min and closes if its PING is unanswered")
  func idle() throws {
    try begin(1)
    loop.advanceTime(by: .hours(1))
    #expect(try connection.summaries() == ["HEADERS"])
    try connection.send(1, .data([]))
    #expect(try connection.summaries() == ["END 0"])
    loop.advanceTime(by: .minutes(10))
    #expect(try connection.summaries() == ["GOAWAY max", "PING"])
    loop.advanceTime(by: .seconds(20))
    #expect(!connection.channel.isActive)
  }

  @Test("A connection that breaks during calls releases all its memory")
  func broken() throws {
    let backend = try makeBackend()
    weak var frames: FrameConnection?
    weak var budget: ConnectionBudget?
    do {
      let connection = try TestConnection(CallPipeline(FirestoreService(backend: backend), on: loop), on: loop)
      frames = try connection.channel.pipeline.syncOperations.handler(type: FrameConnection.self)
      budget = connection.budget
      try connection.send(1, .headers(.call("Listen")), .data(ListenCallTests.addTarget, isLast: false))
      try connection.send(3, .headers(.call("Write")), .data([0], isLast: false))
      try connection.send(5, .headers(.call("RunQuery")), .data([0], isLast: false))
      try connection.send(7, .headers(.call("GetDocument")), .data([0], isLast: false))
      #expect(try connection.summaries().filter { $0 == "HEADERS" }.count == 2)
      #expect(frames != nil && backend.openWatches == 1)
      connection.channel.close(promise: nil)
      loop.run()
    }
    #expect(frames == nil && budget == nil && backend.openWatches == 0)
  }

  @Test("A client that sends no HTTP/2 after the preface is disconnected")
  func handshake() throws {
    let channel = EmbeddedChannel(loop: loop)
    let pipeline = CallPipeline(try makeService(), on: loop)
    channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
    try pipeline.configure(channel, pipeline.connection(on: loop))
    try channel.writeInbound(ByteBuffer(bytes: TestConnection.preface))
    loop.advanceTime(by: .seconds(29))
    #expect(channel.isActive)
    loop.advanceTime(by: .seconds(1))
    #expect(!channel.isActive)
  }

  @Test("A RESET is sent only after the rest of its stream's response")
  func order() throws {
    let connection = try TestConnection(CallPipeline(try makeService(), on: loop), on: loop, window: 10)
    try connection.send(1, .headers(.call("Listen")), .data(ListenCallTests.addTarget, isLast: false))
    #expect(try connection.summaries() == ["HEADERS", "DATA"])
    try connection.send(1, .data([0, 0, 0, 0, 2, 9, 9], isLast: false))
    #expect(try connection.frames().isEmpty)
    try connection.widen(stream: 1, by: 10_000)
    #expect(try connection.summaries() == ["DATA", "END 3", "RESET"])
  }
}
