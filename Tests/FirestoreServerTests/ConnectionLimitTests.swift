// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import FirestoreService
import FirestoreTesting
import HTTP2Frames
import NIOCore
import NIOEmbedded
import ServerTesting
import Testing

@testable import FirestoreServer

/// What one connection may hold, and all together.
@Suite struct ConnectionLimitTests {
  private static let limits = ConnectionLimits(
    streams: 10, windowBytes: 65_535, requestBytes: 10_000, responseBytes: 20_000, windowUpdates: 5)
  private static let calm: UInt32 = 11

  /// A part of a message that is longer.
  private static func part(_ count: Int) -> [UInt8] { [0, 0, 0, 0xff, 0xff] + [UInt8](repeating: 0, count: count - 5) }

  private let loop = EmbeddedEventLoop()
  private let backend: LocalBackend

  init() throws { backend = try makeBackend() }

  private func connect(_ pipeline: CallPipeline? = nil, window: Int = 1 << 20) throws -> TestConnection {
    let pipeline = pipeline ?? CallPipeline(FirestoreService(backend: backend), on: loop, Self.limits)
    return try TestConnection(pipeline, on: loop, window: window)
  }

  @Test("A call whose request is more than there is room for is reset; what others sent stays")
  func requests() throws {
    let connection = try connect()
    try connection.send(1, .headers(.call("RunQuery")), .data(Self.part(8_000), isLast: false))
    try connection.send(3, .headers(.call("RunQuery")), .data(Self.part(3_000), isLast: false))
    #expect(try connection.frames().map(\.code) == [Self.calm])
    #expect(connection.budget.held.requests == 8_000)
    try connection.send(1, .reset)
    #expect(connection.budget.held.requests == 0)
  }

  @Test("What a stream that goes on has been answered does not count any more")
  func answered() throws {
    let connection = try connect()
    func request(_ target: UInt64) -> [UInt8] {
      framed { writer in
        writer.field(1, string: database.name)
        writer.field(2) { writer in
          writer.field(3) { $0.field(2, string: database.documentsName + "/c/none") }
          writer.field(5, varint: target)
        }
        // A label.
        writer.field(4) { writer in
          writer.field(1, string: "x")
          writer.field(2, string: String(repeating: "x", count: 5_000))
        }
      }
    }
    try connection.send(1, .headers(.call("Listen")))
    for target in 2..<12 {
      try connection.send(1, .data(request(UInt64(target)), isLast: false))
      #expect(try connection.summaries().last == "DATA")
      #expect(connection.budget.held.requests == 0)
    }
  }

  @Test("Responses count until the client has room for them; then there is room again, and requests that waited go on")
  func responses() throws {
    try backend.set("c/a", String(repeating: "x", count: 30_000))
    let connection = try connect(window: 0)
    try connection.send(1, .headers(.call("GetDocument")), .data(PromptCallTests.getRequest))
    #expect(try connection.summaries() == ["HEADERS"])
    #expect(connection.budget.isFull && connection.budget.held.responses > 30_000)
    try connection.send(3, .headers(.call("GetDocument")), .data(PromptCallTests.getRequest))
    #expect(try connection.frames().isEmpty)

    try connection.widen(stream: 1, by: 16_000)
    #expect(try connection.summaries() == ["DATA", "HEADERS"])
    try connection.widen(stream: 1, by: 16_000)
    #expect(try connection.summaries() == ["DATA", "END 0"])
    try connection.send(3, .reset)
    #expect(connection.budget.held.responses == 0)
  }

  @Test("When all together hold too much, the connection that holds most is ended")
  func total() throws {
    let pipeline = CallPipeline(FirestoreService(backend: backend), on: loop, Self.limits, total: 25_000)
    let (modest, greedy) = (try connect(pipeline, window: 0), try connect(pipeline, window: 0))
    for (connection, count) in [(modest, 8_000), (greedy, 18_000)] {
      try backend.set("c/a", String(repeating: "x", count: count))
      try connection.send(1, .headers(.call("GetDocument")), .data(PromptCallTests.getRequest))
    }
    #expect(try greedy.frames().map(\.code) == [nil, Self.calm])
    #expect(!greedy.channel.isActive && modest.channel.isActive)
    #expect((8_000..<9_000).contains(pipeline.budget.total))
    _ = try modest.channel.finish()
    #expect(pipeline.budget.total == 0)
  }

  @Test("A client that widens windows and does nothing else is ended; one that reads what it asked for is not")
  func windowUpdates() throws {
    try backend.set("c/a", String(repeating: "x", count: 100 << 10))
    let connection = try connect()
    try connection.send(1, .headers(.call("GetDocument")), .data(PromptCallTests.getRequest))
    #expect(try connection.summaries().last == "END 0")
    for _ in 0..<90 { try connection.widen(stream: 1, by: 1) }
    #expect(connection.channel.isActive)
    for _ in 0..<20 where connection.channel.isActive { try connection.widen(stream: 1, by: 1) }
    #expect(try connection.frames().map(\.code) == [Self.calm])
    #expect(!connection.channel.isActive)
  }

  @Test("Only a port that nobody else reaches is generous")
  func network() throws {
    let network = ConnectionLimits.network.frames
    #expect(network.streams == 100 && network.controlFrames == 200 && network.brokenStreams == 200)
    let loopback = ConnectionLimits.loopback.frames
    #expect(loopback.controlFrames == loopback.streams && loopback.brokenStreams == 2 * loopback.streams)
  }
}
