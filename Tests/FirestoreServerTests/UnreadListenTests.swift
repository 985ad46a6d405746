// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import FirestoreService
import FirestoreTesting
import NIOCore
import NIOEmbedded
import ServerTesting
import Testing

@testable import FirestoreServer

/// What listeners cost whose clients do not read: counted in bytes that are taken from the backend.
@Suite struct UnreadListenTests {
  private static let responseBytes = 2 << 20
  private static let documents = 100
  private static let text = String(repeating: "x", count: 20_000)
  private static let addTarget = framed { writer in
    writer.field(1, string: database.name)
    writer.field(2) { writer in
      writer.field(2) { writer in
        writer.field(1, string: database.documentsName)
        writer.field(2) { $0.field(2) { $0.field(2, string: "c") } }
      }
      writer.field(5, varint: 2)
    }
  }

  private static let window = 10_000
  private static let limits = ConnectionLimits(
    streams: 200, windowBytes: 65_535, requestBytes: 1 << 20, responseBytes: responseBytes, windowUpdates: 1_000)

  private let loop = EmbeddedEventLoop()
  private let backend: LocalBackend
  private let connection: TestConnection

  init() throws {
    backend = try makeBackend()
    let pipeline = CallPipeline(FirestoreService(backend: backend), on: loop, Self.limits)
    connection = try TestConnection(pipeline, on: loop, window: Self.window)
    for number in 0..<Self.documents { try backend.set("c/\(1_000 + number)", Self.text) }
  }

  /// The bytes of each stream that the client has got.
  private func received() throws -> [Int: Int] {
    loop.advanceTime(by: .seconds(1))
    return try connection.frames().reduce(into: [:]) { bytes, frame in
      bytes[frame.stream, default: 0] += frame.bytes.count
    }
  }

  @Test("100 unread listeners stay within the connection's limit and later get everything")
  func unread() throws {
    let streams = (0..<100).map { 2 * $0 + 1 }
    for stream in streams {
      try connection.send(stream, .headers(.call("Listen")), .data(Self.addTarget, isLast: false))
    }
    var bytes = try received()
    #expect(connection.budget.held.responses < Self.responseBytes + WatchDelivery.bytes + 2 * Self.text.utf8.count)
    #expect(bytes.values.allSatisfy { $0 < Self.window + 100 })

    for _ in 0..<200 {
      for stream in streams { try connection.widen(stream: stream, by: 300_000) }
      bytes.merge(try received()) { $0 + $1 }
    }
    #expect(streams.allSatisfy { bytes[$0, default: 0] > Self.documents * Self.text.utf8.count })
    #expect(connection.budget.held.responses == 0)
  }

  @Test("Changes during a listener's pause use no memory and are sent later in parts")
  func changed() throws {
    try connection.send(1, .headers(.call("Listen")), .data(Self.addTarget, isLast: false))
    for _ in 0..<20 {
      _ = try received()
      try connection.widen(stream: 1, by: 300_000)
    }
    connection.setWritable(false)
    for number in 0..<Self.documents { try backend.set("c/\(1_000 + number)", "\(number) \(Self.text)") }
    #expect(try received().isEmpty && connection.budget.held.responses == 0)

    connection.setWritable(true)
    var told = 0
    var most = 0
    while true {
      let bytes = try received()[1, default: 0]
      told += bytes
      most = max(most, connection.budget.held.responses)
      if connection.budget.held.responses == 0, bytes == 0 { break }
      try connection.widen(stream: 1, by: 10_000)
    }
    #expect(most < WatchDelivery.bytes + 2 * Self.text.utf8.count)
    #expect(told > Self.documents * Self.text.utf8.count)
  }
}

/// Whose turn it is when many have something to deliver.
@Suite struct DeliveryTurnTests {
  private final class Slow: Delivering {
    private let clock: NIOLoopBoundBox<NIODeadline>
    private let time: TimeAmount
    private(set) var deliveries = 0

    init(_ clock: NIOLoopBoundBox<NIODeadline>, taking time: TimeAmount) {
      self.clock = clock
      self.time = time
    }

    func deliver() {
      deliveries += 1
      clock.value = clock.value + time
    }
  }

  @Test("An event-loop turn serves every listener, or only some if each takes long")
  func turns() {
    let loop = EmbeddedEventLoop()
    let clock = NIOLoopBoundBox(NIODeadline.uptimeNanoseconds(0), eventLoop: loop)
    let turn = DeliverySlice(loop) { clock.value }

    let quick = (0..<100).map { _ in Slow(clock, taking: .microseconds(10)) }
    for call in quick { turn.schedule(call) }
    loop.run()
    #expect(quick.allSatisfy { $0.deliveries == 1 })

    let slow = (0..<10).map { _ in Slow(clock, taking: .milliseconds(1)) }
    for call in slow { turn.schedule(call) }
    loop.run()
    #expect(slow.map(\.deliveries) == [1, 1, 0, 0, 0, 0, 0, 0, 0, 0])
    // The sockets have been looked at.
    loop.advanceTime(by: .microseconds(100))
    #expect(slow.map(\.deliveries) == [1, 1, 1, 1, 0, 0, 0, 0, 0, 0])
    loop.advanceTime(by: .milliseconds(1))
    #expect(slow.allSatisfy { $0.deliveries == 1 })
  }
}
