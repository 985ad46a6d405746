// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import FirestoreProtocol
import FirestoreService
import FirestoreTesting
import NIOCore
import NIOEmbedded
import NIOHPACK
import NIOHTTP2
import ServerTesting
import Testing

@testable import FirestoreServer

/// Calls that are answered where their frames arrive.
@Suite struct PromptCallTests {
  private let loop = EmbeddedEventLoop()
  private let backend: LocalBackend
  private let budget: ConnectionBudget
  private let channel: EmbeddedChannel

  private static let getRequest = framed { $0.field(1, string: "projects/p/databases/(default)/documents/c/a") }

  init() throws {
    backend = try makeBackend()
    try backend.set("c/a", "here")
    budget = ConnectionBudget(on: loop, responseBytes: 1_000)
    let service = FirestoreService(backend: backend)
    channel = try .connected(
      PromptCallHandler(service, budget, CommitTurn(service, on: loop), window: 65_535), loop: loop)
  }

  private func receive(_ stream: Int, _ payloads: HTTP2Frame.FramePayload...) throws {
    for payload in payloads {
      try channel.writeInbound(HTTP2Frame(streamID: HTTP2StreamID(stream), payload: payload))
    }
  }

  private func summary(_ frames: [HTTP2Frame]) -> [String] {
    frames.map { "\(Int($0.streamID)) \($0.payload.summary)" }
  }

  @Test("A request in any number of frames gets the same response")
  func frames() throws {
    let request = Self.getRequest
    let splits: [[ArraySlice<UInt8>]] = [
      [request[...]], [request.prefix(5), request.dropFirst(5)], request.indices.map { request[$0...$0] },
      [request[...], []],
    ]
    for (index, parts) in splits.enumerated() {
      let stream = 2 * index + 1
      try receive(stream, .headers(.call("GetDocument")))
      for (number, part) in parts.enumerated() { try receive(stream, .data(part, isLast: number == parts.count - 1)) }
      let response = try channel.sentFrames()
      #expect(summary(response) == ["\(stream) HEADERS", "\(stream) DATA", "\(stream) END 0"])
      #expect(response[1].payload.bytes.containsText("here"))
    }
    #expect(try channel.passedFrames().isEmpty)
  }

  @Test("What is refused is said in the headers, and the connection goes on")
  func refused() throws {
    try receive(1, .headers(.call("GetDocument")), .data(framed { $0.field(1, string: "projects/p") }))
    let refusal = try channel.sentFrames()
    #expect(summary(refusal) == ["1 END 3"])
    try receive(3, .headers(.call("GetDocument")), .data(Self.getRequest))
    #expect(summary(try channel.sentFrames()).last == "3 END 0")
  }

  @Test(
    "Other methods, and what is no plain call, go to the multiplexer as they came",
    arguments: ["Listen", "Write", "RunQuery", "ListDocuments", "Nothing"])
  func others(method: String) throws {
    try receive(1, .headers(.call(method)), .data(Self.getRequest))
    var compressed = HPACKHeaders.call("GetDocument")
    compressed.add(name: "grpc-encoding", value: "gzip")
    try receive(3, .headers(compressed), .data(Self.getRequest))
    try receive(5, .headers(.call("GetDocument"), isLast: true))
    #expect(
      summary(try channel.passedFrames()) == ["1 HEADERS", "1 DATA, END", "3 HEADERS", "3 DATA, END", "5 HEADERS"])
    #expect(try channel.sentFrames().isEmpty)
  }

  @Test("A request that is large, ends in trailers or is no one message is handed on from its first frame")
  func handedOn() throws {
    try receive(1, .headers(.call("Commit")))
    let creation = NIOHTTP2StreamCreatedEvent(streamID: 1, localInitialWindowSize: 1, remoteInitialWindowSize: 1)
    channel.pipeline.fireUserInboundEventTriggered(creation)
    try receive(1, .data([UInt8](repeating: 1, count: 20_000), isLast: false))
    #expect(try channel.passedFrames().isEmpty)
    try receive(1, .data([UInt8](repeating: 1, count: 20_000), isLast: false), .data([1]))
    #expect(summary(try channel.passedFrames()) == ["1 HEADERS", "1 DATA", "1 DATA, END"])

    try receive(3, .headers(.call("Commit")), .data(Self.getRequest, isLast: false), .headers(["x": "y"], isLast: true))
    #expect(summary(try channel.passedFrames()) == ["3 HEADERS", "3 DATA", "3 HEADERS"])

    try receive(5, .headers(.call("GetDocument")), .data(Self.getRequest + Self.getRequest))
    #expect(summary(try channel.passedFrames()) == ["5 HEADERS", "5 DATA, END"])
  }

  @Test("Many documents at once take more than a step")
  func many() throws {
    func request(_ count: Int) -> [UInt8] {
      framed { writer in
        writer.field(1, string: database.name)
        for number in 0..<count { writer.field(2, string: database.documentsName + "/c/\(number)") }
      }
    }
    try receive(1, .headers(.call("BatchGetDocuments")), .data(request(20)))
    #expect(summary(try channel.sentFrames()) == ["1 HEADERS", "1 DATA", "1 END 0"])
    try receive(3, .headers(.call("BatchGetDocuments")), .data(request(21)))
    #expect(summary(try channel.passedFrames()) == ["3 HEADERS", "3 DATA, END"])
  }

  @Test("While the client leaves too much unread requests wait in order; those whose callers are gone are passed over")
  func waiting() throws {
    budget.addResponse(1_000)
    for stream in [1, 3, 5] { try receive(stream, .headers(.call("GetDocument")), .data(Self.getRequest)) }
    #expect(try channel.sentFrames().isEmpty)
    channel.pipeline.fireUserInboundEventTriggered(StreamClosedEvent(streamID: 3, reason: nil))

    #expect(budget.removeResponse(1_000))
    channel.pipeline.fireUserInboundEventTriggered(ResponseRoomEvent())

    #expect(try channel.sentFrames().map { Int($0.streamID) } == [1, 1, 1, 5, 5, 5])
  }

  @Test("A request that its caller takes back is forgotten")
  func reset() throws {
    try receive(1, .headers(.call("GetDocument")), .rstStream(.cancel))
    channel.pipeline.fireUserInboundEventTriggered(StreamClosedEvent(streamID: 1, reason: .cancel))
    #expect(try channel.sentFrames().isEmpty && channel.passedFrames().isEmpty)
  }

  private static func commit(_ path: String, exists: Bool? = nil) -> [UInt8] {
    framed { request in
      request.commitRequest(
        [
          Mutation(
            key: DocumentKey(unchecked: ResourcePath(path)), operation: .set(["n": 1]),
            precondition: exists.map { .exists($0) } ?? .none)
        ], in: database)
    }
  }

  @Test("Commits of one turn are done at its end, also those of other connections, and answered each by itself")
  func commits() throws {
    let service = FirestoreService(backend: backend)
    let commits = CommitTurn(service, on: loop)
    let channels = try (0..<2).map { _ in
      try EmbeddedChannel.connected(PromptCallHandler(service, budget, commits, window: 65_535), loop: loop)
    }
    func send(_ channel: EmbeddedChannel, _ stream: Int, _ request: [UInt8]) throws {
      for payload: HTTP2Frame.FramePayload in [.headers(.call("Commit")), .data(request)] {
        try channel.writeInbound(HTTP2Frame(streamID: HTTP2StreamID(stream), payload: payload))
      }
    }
    try send(channels[0], 1, Self.commit("c/one"))
    try send(channels[0], 3, Self.commit("c/none", exists: true))
    try send(channels[0], 5, Self.commit("c/left"))
    try send(channels[1], 1, Self.commit("c/two"))
    channels[0].pipeline.fireUserInboundEventTriggered(StreamClosedEvent(streamID: 5, reason: .cancel))
    #expect(try channels.allSatisfy { try $0.sentFrames().isEmpty })
    loop.run()

    #expect(summary(try channels[0].sentFrames()) == ["1 HEADERS", "1 DATA", "1 END 0", "3 END 5"])
    #expect(summary(try channels[1].sentFrames()) == ["1 HEADERS", "1 DATA", "1 END 0"])
    // Who has left may have committed all the same.
    let paths = ["c/one", "c/left", "c/two", "c/none"].map { DocumentKey(unchecked: ResourcePath($0)) }
    let documents = try backend.assumeIsolated { try $0.lookup(paths, in: database).documents }
    #expect(documents.map(\.exists) == [true, true, true, false])
  }

  @Test("Events of calls that are answered here stay here; the connection's window is told once half of it is used")
  func events() throws {
    let passed = PassedEvents()
    try channel.pipeline.syncOperations.addHandler(passed)
    try receive(1, .headers(.call("GetDocument")))
    try receive(3, .headers(.call("RunQuery")))
    func fire(_ stream: HTTP2StreamID, _ window: Int) {
      channel.pipeline.fireUserInboundEventTriggered(
        NIOHTTP2WindowUpdatedEvent(streamID: stream, inboundWindowSize: window, outboundWindowSize: nil))
    }
    fire(1, 10)
    fire(3, 20)
    fire(.rootStream, 40_000)
    fire(.rootStream, 30_000)
    for stream: HTTP2StreamID in [1, 3] {
      channel.pipeline.fireUserInboundEventTriggered(StreamClosedEvent(streamID: stream, reason: nil))
    }
    #expect(passed.texts == ["window 3 20", "window 0 30000", "closed 3"])
  }
}

/// Notes the events that a handler passes on.
private final class PassedEvents: ChannelInboundHandler {
  typealias InboundIn = HTTP2Frame

  private(set) var texts: [String] = []

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case let event as NIOHTTP2WindowUpdatedEvent:
      texts.append("window \(Int(event.streamID)) \(event.inboundWindowSize ?? -1)")
    case let event as StreamClosedEvent: texts.append("closed \(Int(event.streamID))")
    default: texts.append("other")
    }
  }
}
