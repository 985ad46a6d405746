// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import FirestoreService
import FirestoreTesting
import HTTP2Frames
import NIOCore
import NIOEmbedded
import NIOHPACK
import ServerTesting
import Synchronization
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

  @Test("A request over the memory limit is reset, and other calls keep their data")
  func requests() throws {
    let connection = try connect()
    try connection.send(1, .headers(.call("RunQuery")), .data(Self.part(8_000), isLast: false))
    try connection.send(3, .headers(.call("RunQuery")), .data(Self.part(3_000), isLast: false))
    #expect(try connection.frames().map(\.code) == [Self.calm])
    #expect(connection.budget.held.requests == 8_000)
    try connection.send(1, .reset)
    #expect(connection.budget.held.requests == 0)
  }

  @Test("Processed messages of an open stream no longer count as memory")
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

  @Test("A response counts as memory until the client accepts it; requests wait meanwhile")
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

  @Test("If all connections exceed the limit, the one that uses most memory is closed")
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

  @Test("If all connections exceed the limit, some are closed until the others fit")
  func totalOfMany() {
    final class Member {}
    let budget = ServerBudget(on: loop, limit: 100)
    let members = (0..<4).map { _ in Member() }
    var ended: [Int] = []
    for (index, member) in members.enumerated() { budget.join(member) { ended.append(index) } }
    for (index, bytes) in [30, 20, 30, 10].enumerated() { budget.change(members[index], by: bytes) }
    #expect(ended.isEmpty)

    budget.change(members[3], by: 60)
    #expect(ended == [3])
    // A connection that is being ended does not count, whatever it still grows to.
    budget.change(members[3], by: 500)
    budget.change(members[1], by: 60)
    #expect(ended == [3, 1])
    budget.change(members[0], by: 71)
    #expect(ended == [3, 1, 0])
    for member in members { budget.leave(member) }
    #expect(budget.total == 0)
  }

  @Test("A flood's end is reported once, after most of the memory is released")
  func flood() {
    final class Member {}
    let calls = Mutex(0)
    let budget = ServerBudget(on: loop, limit: 1 << 30) { calls.withLock { $0 += 1 } }
    let member = Member()
    budget.join(member) {}
    budget.change(member, by: 16 << 20)
    budget.change(member, by: -16 << 20)
    loop.run()
    #expect(calls.withLock { $0 } == 0)
    budget.change(member, by: 64 << 20)
    budget.change(member, by: -60 << 20)
    loop.run()
    #expect(calls.withLock { $0 } == 0)
    budget.change(member, by: -1 << 20)
    budget.change(member, by: -3 << 20)
    loop.run()
    #expect(calls.withLock { $0 } == 1)
  }

  @Test("Simultaneous calls wait for each other without closing a connection")
  func manyBeginnings() async throws {
    let group = ServerThread.loop
    let server = ServerBudget(on: group, limit: 1_000)
    let limits = ConnectionLimits(
      streams: 10, windowBytes: 65_535, requestBytes: 10_000, responseBytes: 400, windowUpdates: 5)
    let budgets = (0..<50).map { _ in ConnectionBudget(limits, server, on: group) }
    let ended = Mutex(0)
    try await group.submit { for budget in budgets { budget.open { ended.withLock { $0 += 1 } } } }.get()
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      for budget in budgets {
        for _ in 0..<5 {
          tasks.addTask {
            let turn = try await budget.turn(reserving: 100)
            await Task.yield()
            turn.end()
          }
        }
      }
      try await tasks.waitForAll()
    }
    #expect(ended.withLock { $0 } == 0)
    #expect(try await group.submit { server.total + budgets.reduce(0) { $0 + $1.held.responses } }.get() == 0)
  }

  @Test("Small responses count as memory too while the client's window is full")
  func smallResponses() throws {
    try backend.set("c/a", "x")
    let connection = try connect(window: 0)
    for stream in [1, 3] {
      try connection.send(stream, .headers(.call("GetDocument")), .data(PromptCallTests.getRequest))
    }
    #expect(connection.budget.held.responses > 2 * 1_024)
    for stream in [1, 3] { try connection.widen(stream: stream, by: 10_000) }
    #expect(connection.budget.held.responses == 0)
  }

  @Test("Headers count as memory while their stream is open; excess streams are reset")
  func heads() throws {
    let connection = try connect()
    var headers = HPACKHeaders.call("Commit")
    headers.add(name: "x-filler", value: String(repeating: "x", count: 2_000))
    for stream in [1, 3] { try connection.send(stream, .headers(headers)) }
    #expect((8_000...10_000).contains(connection.budget.held.requests))
    try connection.send(5, .headers(headers))
    #expect(try connection.frames().map(\.code) == [Self.calm])
    for stream in [1, 3] { try connection.send(stream, .reset) }
    #expect(connection.budget.held.requests == 0)
  }

  @Test("A call is canceled after 30 seconds without request data")
  func halfOpen() throws {
    let connection = try connect()
    for (stream, method) in [(1, "GetDocument"), (3, "RunQuery"), (5, "GetDocument"), (7, "Listen")] {
      try connection.send(stream, .headers(.call(method)))
    }
    var said: [String] = []
    for _ in 0..<8 {
      loop.advanceTime(by: .seconds(5))
      try connection.send(5, .data([0], isLast: false))
      said += try connection.frames().map { "\($0.stream) \($0.summary)" }
    }
    #expect(said.filter { !$0.hasSuffix("RESET") }.sorted() == ["1 END 1", "3 END 1", "7 HEADERS"])
  }

  @Test("A call ends at its deadline even if its request is incomplete")
  func halfOpenDeadline() throws {
    let connection = try connect()
    var headers = HPACKHeaders.call("GetDocument")
    headers.add(name: "grpc-timeout", value: "1S")
    try connection.send(1, .headers(headers))
    connection.channel.pipeline.fireChannelReadComplete()
    #expect(try connection.frames().isEmpty)
    loop.advanceTime(by: .seconds(1))
    #expect(try connection.summaries().first == "END 4")
  }

  @Test("A client that sends only window updates is disconnected; an active reader is not")
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

  @Test("Only the loopback port has generous limits")
  func network() throws {
    let network = ConnectionLimits.network.frames
    #expect(network.streams == 100 && network.controlFrames == 200 && network.brokenStreams == 200)
    let loopback = ConnectionLimits.loopback.frames
    #expect(loopback.controlFrames == loopback.streams && loopback.brokenStreams == 2 * loopback.streams)
  }
}
