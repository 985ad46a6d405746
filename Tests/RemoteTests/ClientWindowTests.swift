// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreGRPC
import FirestoreModel
import FirestoreTesting
import Foundation
import Testing

/// Clients that read slowly, or not at all, as the windows of HTTP/2 let them.
@Suite(.timeLimit(.minutes(10)))
struct ClientWindowTests {
  /// What these send keeps the thread of all servers of this process busy for longer than other tests' clients wait for
  /// an answer: they run in the nightly part `strangers`.
  private static let isAlone = ProcessInfo.processInfo.environment["HEARTH_FULL"] == "1"

  private static let root = "projects/p/databases/(default)"

  private static func message(_ write: (inout WireWriter) -> Void) -> [UInt8] {
    var writer = WireWriter()
    write(&writer)
    return RawRequest.message(writer.bytes)
  }

  private static func writes(_ count: Int) -> (inout WireWriter) -> Void {
    { writer in
      writer.field(1, string: root)
      for number in 0..<count {
        writer.field(2) { $0.field(1) { $0.field(1, string: "\(root)/documents/c/d\(number)") } }
      }
    }
  }

  @Test(
    "A response larger than the client's window arrives complete",
    arguments: [("Commit", 5_000), ("BatchWrite", 5_000), ("Commit", 1_000)])
  func largeResponse(method: String, count: Int) async throws {
    let backend = try LocalBackend.inMemory()
    try await Server.run(backend) { server in
      let window: UInt32 = count < 5_000 ? 1_000 : 65_535
      let connection = try await RawConnection(to: server, window: window)
      let request = Self.message(Self.writes(count))
      try await connection.send(RawRequest.headers(RawRequest.call(method)))
      try await connection.send(request, stream: 1)
      var received: [UInt8] = []
      var trailers: [RawConnection.Frame] = []
      for await frame in connection.frames where frame.stream == 1 {
        if frame.type == RawConnection.Frame.reset { break }
        if frame.type == RawConnection.Frame.headers { trailers.append(frame) }
        if frame.type == RawConnection.Frame.data {
          received += frame.payload
          // Read to the last byte of the window, then allow as much again.
          if received.count.isMultiple(of: Int(window)) {
            try await connection.widen(stream: 1, by: window)
            try await connection.widen(stream: 0, by: window)
          }
        }
        if frame.isLast { break }
      }
      #expect(trailers.count == 2 && trailers.last?.isLast == true)
      let length = received.prefix(5).dropFirst().reduce(0) { $0 << 8 | Int($1) }
      #expect(received.count == 5 + length && length > Int(window))
      try await connection.close()
    }
    #expect(
      try await backend.lookup([DocumentKey(unchecked: ResourcePath("c/d0"))], in: database).documents[0].exists)
  }

  @Test(
    "A client that does not read gets limited data; its calls continue when it reads",
    .enabled(if: isAlone), arguments: ["GetDocument", "RunQuery", "ListDocuments"])
  func unread(method: String) async throws {
    let backend = try LocalBackend.inMemory()
    let key = DocumentKey(unchecked: ResourcePath("c/a"))
    let fields: Fields = ["b": .bytes([UInt8](repeating: 7, count: 1_000_000))]
    try await backend.commit([Mutation(key: key, operation: .set(fields))], in: database)
    let request = Self.message { writer in
      switch method {
      case "GetDocument": writer.field(1, string: "\(Self.root)/documents/c/a")
      case "RunQuery":
        writer.field(1, string: "\(Self.root)/documents")
        writer.field(2) { $0.field(2) { $0.field(2, string: "c") } }
      default:
        writer.field(1, string: "\(Self.root)/documents")
        writer.field(2, string: "c")
      }
    }
    let streams = (0..<80).map { UInt32(2 * $0 + 1) }
    try await Server.run(backend) { server in
      let connection = try await RawConnection(to: server, window: 0)
      for stream in streams {
        try await connection.send(
          RawRequest.headers(RawRequest.call(method), stream: stream) + RawRequest.data(request, stream: stream))
      }
      // Behind the answer to what comes last, all that can begin has begun.
      var begun: Set<UInt32> = []
      for _ in 0..<20 {
        try await connection.send(RawRequest.frame(6, [UInt8](repeating: 1, count: 8)))
        for await frame in connection.frames where frame.stream == 0 || frame.type == RawConnection.Frame.headers {
          if frame.type == RawConnection.Frame.ping { break }
          if frame.stream > 0 { begun.insert(frame.stream) }
        }
      }
      // 16 MiB, and the calls with a task of their own that are under way.
      #expect(begun.count < 60)

      try await connection.widen(stream: 0, by: 1 << 27)
      for stream in streams { try await connection.widen(stream: stream, by: 1 << 21) }
      var ended = 0
      for await frame in connection.frames where frame.stream > 0 && frame.isLast {
        ended += 1
        if ended == streams.count { break }
      }
      #expect(ended == streams.count)
      try await connection.close()
    }
  }

  @Test(
    "At the memory limit an unfinished request is reset, not its connection",
    .enabled(if: isAlone))
  func unfinished() async throws {
    try await Server.run(try LocalBackend.inMemory()) { server in
      let connection = try await RawConnection(to: server)
      let part = RawRequest.message([], length: 11_000_000) + [UInt8](repeating: 0, count: 960_000)
      var reset: UInt32?
      var number: UInt32 = 1
      while reset == nil, number < 400 {
        try await connection.send(RawRequest.headers(RawRequest.call("Commit"), stream: number))
        let said = try await connection.send(part, stream: number, isLast: false)
        reset = said.first { $0.type == RawConnection.Frame.reset }?.stream
        number += 2
      }
      // 64 MiB of 960 kB each.
      #expect(reset.map { (120...170).contains($0) } == true)
      let request = Self.message { $0.field(1, string: "\(Self.root)/documents/c/a") }
      try await connection.send(
        RawRequest.headers(RawRequest.call("GetDocument"), stream: 1_001) + RawRequest.data(request, stream: 1_001))
      #expect(await connection.response(stream: 1_001).last?.isLast == true)
      try await connection.close()
    }
  }
}
