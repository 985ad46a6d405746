// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOEmbedded
import ServerTesting
import Testing

@testable import FirestoreServer

/// What a connection writes in one turn of its thread.
@Suite struct ReadFlushTests {
  private let loop = EmbeddedEventLoop()
  private let channel: EmbeddedChannel

  init() throws { channel = try .connected(ReadFlushHandler(), loop: loop) }

  private func write(_ text: String) -> EventLoopFuture<Void> {
    let promise = loop.makePromise(of: Void.self)
    channel.pipeline.write(ByteBuffer(string: text), promise: promise)
    return promise.futureResult
  }

  private func pieces() throws -> [String] {
    var pieces: [String] = []
    while let buffer = try channel.readOutbound(as: ByteBuffer.self) { pieces.append(String(buffer: buffer)) }
    return pieces
  }

  @Test("Small writes are sent together on the next event-loop turn")
  func gathered() throws {
    let written = ["a", "b", "c"].map(write)
    channel.flush()
    channel.flush()
    #expect(try pieces().isEmpty && written.allSatisfy(\.isPending))
    loop.run()
    #expect(try pieces() == ["abc"])
    #expect(written.allSatisfy { !$0.isPending })
  }

  @Test("A large write is sent unchanged and in order")
  func large() throws {
    let long = String(repeating: "x", count: 9_000)
    for text in ["a", "b", long, "c"] { _ = write(text) }
    channel.flush()
    loop.run()
    #expect(try pieces() == ["ab", long, "c"])
  }

  @Test("Flushed data is sent before the connection closes")
  func closed() throws {
    let flushed = write("a")
    channel.flush()
    channel.close(promise: nil)
    loop.run()
    #expect(try pieces() == ["a"] && !flushed.isPending)
  }
}
