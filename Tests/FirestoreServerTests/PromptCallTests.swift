// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import FirestoreProtocol
import FirestoreService
import FirestoreTesting
import NIOCore
import NIOEmbedded
import NIOHPACK
import ServerTesting
import Testing

@testable import FirestoreServer

/// Calls that are answered where their frames arrive.
@Suite struct PromptCallTests {
  private let loop = EmbeddedEventLoop()
  private let backend: LocalBackend
  private let connection: TestConnection

  static let getRequest = framed { $0.field(1, string: "projects/p/databases/(default)/documents/c/a") }

  init() throws {
    backend = try makeBackend()
    try backend.set("c/a", "here")
    connection = try TestConnection(CallPipeline(FirestoreService(backend: backend), on: loop), on: loop)
  }

  private func summary(_ frames: [TestFrame]) -> [String] { frames.map { "\($0.stream) \($0.summary)" } }

  /// What is said by the time at which tasks have done their work.
  private func answers() throws -> [String] { summary(try connection.frames()) }

  @Test("A request split into any number of frames gets the same response")
  func frames() throws {
    let request = Self.getRequest
    let splits: [[ArraySlice<UInt8>]] = [
      [request[...]], [request.prefix(5), request.dropFirst(5)], request.indices.map { request[$0...$0] },
      [request[...], []],
    ]
    for (index, parts) in splits.enumerated() {
      let stream = 2 * index + 1
      try connection.send(stream, .headers(.call("GetDocument")))
      for (number, part) in parts.enumerated() {
        try connection.send(stream, .data(Array(part), isLast: number == parts.count - 1))
      }
      let response = try connection.frames()
      #expect(summary(response) == ["\(stream) HEADERS", "\(stream) DATA", "\(stream) END 0"])
      #expect(response[1].bytes.containsText("here"))
    }
  }

  @Test("An error is sent in the headers, and the connection stays open")
  func refused() throws {
    try connection.send(1, .headers(.call("GetDocument")), .data(framed { $0.field(1, string: "projects/p") }))
    #expect(try answers() == ["1 END 3"])
    try connection.send(3, .headers(.call("GetDocument")), .data(Self.getRequest))
    #expect(try answers().last == "3 END 0")
  }

  @Test("Repeated responses with indexed headers decode the same")
  func repeated() throws {
    for stream in [1, 3, 5] {
      try connection.send(stream, .headers(.call("GetDocument")), .data(Self.getRequest))
      let response = try connection.frames()
      #expect(response.first?.headers.lines == [":status: 200", "content-type: application/grpc"])
      #expect(response.last?.headers.lines == ["grpc-status: 0"])
    }
  }

  @Test("A large or malformed request is processed in a separate task", arguments: [40_000, 20_000, 7])
  func handedOn(size: Int) throws {
    let path = "projects/p/databases/(default)/documents/c/a"
    let large = framed { writer in
      writer.field(1, string: path)
      for _ in 0..<3 { writer.field(9, bytes: [UInt8](repeating: 1, count: size)) }
    }
    let middle = large.count / 2
    try connection.send(
      1, .headers(.call("GetDocument")), .data(Array(large[..<middle]), isLast: false), .data(Array(large[middle...])))
    #expect(try answers() == ["1 HEADERS", "1 DATA", "1 END 0"])
    try connection.send(3, .headers(.call("GetDocument")), .data(Self.getRequest + Self.getRequest))
    #expect(try answers() == ["3 END 3"])
    try connection.send(5, .headers(.call("GetDocument")), .data(Array(Self.getRequest.dropLast())))
    #expect(try answers() == ["5 END 3"])
    try connection.send(7, .headers(.call("GetDocument"), isLast: true))
    #expect(try answers() == ["7 END 3"])
  }

  @Test("A request may end with trailers")
  func trailers() throws {
    try connection.send(
      1, .headers(.call("GetDocument")), .data(Self.getRequest, isLast: false), .headers(["x": "y"], isLast: true))
    #expect(try answers() == ["1 HEADERS", "1 DATA", "1 END 0"])
  }

  @Test("While responses are unread, requests wait in order, except canceled ones")
  func waiting() throws {
    let limits = ConnectionLimits(
      streams: 10, windowBytes: 65_535, requestBytes: 1 << 20, responseBytes: 20_000, windowUpdates: 100)
    let pipeline = CallPipeline(FirestoreService(backend: backend), on: loop, limits)
    let connection = try TestConnection(pipeline, on: loop, window: 10_000)
    try backend.set("c/a", String(repeating: "x", count: 40_000))
    try connection.send(1, .headers(.call("GetDocument")), .data(Self.getRequest))
    #expect(try connection.summaries() == ["HEADERS", "DATA"])
    try backend.set("c/a", "here")
    for stream in [3, 5, 7] { try connection.send(stream, .headers(.call("GetDocument")), .data(Self.getRequest)) }
    #expect(try connection.frames().isEmpty)
    try connection.send(5, .reset)

    try connection.widen(stream: 1, by: 100_000)

    #expect(try connection.frames().filter { $0.kind == .headers }.map(\.stream).sorted() == [1, 3, 3, 7, 7])
  }

  @Test("A request that its caller cancels is dropped")
  func reset() throws {
    try connection.send(1, .headers(.call("GetDocument")), .reset)
    #expect(try connection.frames().isEmpty)
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

  @Test("Commits of one event-loop turn run together and get separate responses")
  func commits() throws {
    let pipeline = CallPipeline(FirestoreService(backend: backend), on: loop)
    let connections = try (0..<2).map { _ in try TestConnection(pipeline, on: loop) }
    func send(_ connection: TestConnection, _ stream: Int, _ request: [UInt8]) throws {
      try connection.send(stream, .headers(.call("Commit")), .data(request))
    }
    try send(connections[0], 1, Self.commit("c/one"))
    try send(connections[0], 3, Self.commit("c/none", exists: true))
    try send(connections[0], 5, Self.commit("c/left"))
    try send(connections[1], 1, Self.commit("c/two"))
    try connections[0].send(5, .reset)
    #expect(try connections.allSatisfy { try $0.channel.readOutbound(as: ByteBuffer.self) == nil })

    #expect(summary(try connections[0].frames()) == ["1 HEADERS", "1 DATA", "1 END 0", "3 END 5"])
    #expect(summary(try connections[1].frames()) == ["1 HEADERS", "1 DATA", "1 END 0"])
    // Who has left may have committed all the same.
    let paths = ["c/one", "c/left", "c/two", "c/none"].map { DocumentKey(unchecked: ResourcePath($0)) }
    let documents = try backend.assumeIsolated { try $0.lookup(paths, in: database).documents }
    #expect(documents.map(\.exists) == [true, true, true, false])
  }
}
