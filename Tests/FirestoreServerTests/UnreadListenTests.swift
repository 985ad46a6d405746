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

/// What listeners cost whose clients do not read: counted in bytes that are taken from the backend.
@Suite struct UnreadListenTests {
  /// Counts at the budget as `BudgetHandler` does what is written on a call's channel, and takes no more of it than a window.
  private final class Window: ChannelOutboundHandler {
    typealias OutboundIn = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    private let budget: ConnectionBudget
    private(set) var bytes = 0

    init(_ budget: ConnectionBudget) { self.budget = budget }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      if case .data(let frame) = unwrapOutboundIn(data) {
        bytes += frame.data.readableBytes
        budget.addResponse(frame.data.readableBytes)
        (context.channel as? EmbeddedChannel)?.isWritable = false
      }
      context.write(data, promise: promise)
    }

    /// The client reads all there is.
    func read(_ channel: EmbeddedChannel) {
      let read = bytes
      bytes = 0
      channel.isWritable = true
      _ = budget.removeResponse(read)
      channel.pipeline.fireChannelWritabilityChanged()
    }
  }

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

  private let loop = EmbeddedEventLoop()
  private let backend: LocalBackend
  private let budget: ConnectionBudget

  init() throws {
    backend = try makeBackend()
    budget = ConnectionBudget(on: loop, responseBytes: Self.responseBytes)
    for number in 0..<Self.documents { try backend.set("c/\(1_000 + number)", Self.text) }
  }

  private func listen() throws -> (channel: EmbeddedChannel, window: Window) {
    let (service, window) = (FirestoreService(backend: backend), Window(budget))
    let channel: EmbeddedChannel = try .connected(
      window,
      CallHandler(service, nil, DeliveryTurn(loop), budget),
      loop: loop)
    try channel.writeInbound(HTTP2Frame.FramePayload.headers(.call("Listen")))
    try channel.writeInbound(HTTP2Frame.FramePayload.data(Self.addTarget, isLast: false))
    return (channel, window)
  }

  @Test("A hundred listeners that nobody reads take what a connection may hold, not their results; read, they get all")
  func unread() throws {
    let listeners = try (0..<100).map { _ in try listen() }
    loop.advanceTime(by: .seconds(1))
    let held = listeners.reduce(0) { $0 + $1.window.bytes }
    #expect(held < Self.responseBytes + WatchDelivery.bytes + 2 * Self.text.utf8.count)
    #expect(listeners.allSatisfy { $0.window.bytes < WatchDelivery.bytes + 2 * Self.text.utf8.count })

    var received = [Int](repeating: 0, count: listeners.count)
    for _ in 0..<200 {
      for (index, listener) in listeners.enumerated() {
        received[index] += listener.window.bytes
        listener.window.read(listener.channel)
      }
      loop.advanceTime(by: .seconds(1))
    }
    #expect(received.allSatisfy { $0 > Self.documents * Self.text.utf8.count })
    for listener in listeners { _ = try? listener.channel.finish() }
  }

  @Test("What changed while nobody read is told in pieces too, and kept by name")
  func changed() throws {
    let (channel, window) = try listen()
    for _ in 0..<20 {
      loop.advanceTime(by: .seconds(1))
      window.read(channel)
    }
    _ = try channel.sentPayloads()
    channel.isWritable = false
    for number in 0..<Self.documents { try backend.set("c/\(1_000 + number)", "\(number) \(Self.text)") }
    loop.advanceTime(by: .seconds(1))
    #expect(try channel.sentPayloads().isEmpty)

    channel.isWritable = true
    channel.pipeline.fireChannelWritabilityChanged()
    loop.advanceTime(by: .seconds(1))
    #expect((1..<(WatchDelivery.bytes + 2 * Self.text.utf8.count)).contains(window.bytes))
    var told = 0
    while window.bytes > 0 {
      told += window.bytes
      window.read(channel)
      loop.advanceTime(by: .seconds(1))
    }
    #expect(told > Self.documents * Self.text.utf8.count)
    _ = try? channel.finish()
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

  @Test("A turn serves all that a commit wakes at once, and no more than fits when each takes long")
  func turns() {
    let loop = EmbeddedEventLoop()
    let clock = NIOLoopBoundBox(NIODeadline.uptimeNanoseconds(0), eventLoop: loop)
    let turn = DeliveryTurn(loop) { clock.value }

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
