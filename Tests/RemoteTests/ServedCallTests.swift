// SPDX-License-Identifier: Apache-2.0
import ClientTesting
import FirestoreBackend
import FirestoreGRPC
import FirestoreModel
import FirestoreProtocol
import FirestoreTesting
import Testing

/// How calls look on the line.
@Suite(.timeLimit(.minutes(10)))
struct ServedCallTests {
  private static let key = DocumentKey(unchecked: ResourcePath("c/a"))

  private static func message(_ write: (inout WireWriter) -> Void) -> [UInt8] {
    var writer = WireWriter()
    write(&writer)
    return RawRequest.message(writer.bytes)
  }

  private static let getRequest = message { $0.field(1, string: "projects/p/databases/(default)/documents/c/a") }

  @Test("A request that ends with trailers gets a response")
  func trailers() async throws {
    try await Server.run(try LocalBackend.inMemory()) { server in
      let connection = try await RawConnection(to: server)
      var end = RawRequest.headers([("x-end", "yes")])
      end[4] |= 1
      try await connection.send(
        RawRequest.headers(RawRequest.call("Commit"))
          + RawRequest.data(Self.message { $0.field(1, string: "projects/p/databases/(default)") }, isLast: false) + end
      )
      let response = await connection.response()
      #expect(response.map(\.type) == [1, 0, 1])
      #expect(try RawConnection.headers(in: response).last == "grpc-status: 0")
      try await connection.close()
    }
  }

  @Test("A client may cancel hundreds of listeners at once and continue")
  func givenUp() async throws {
    let backend = try LocalBackend.inMemory()
    try await Server.run(backend) { server in
      let connection = try await RawConnection(to: server)
      let streams = stride(from: UInt32(1), to: 1_000, by: 2)
      for batch in Array(streams).chunks(of: 50) {
        for stream in batch { try await connection.send(RawRequest.headers(RawRequest.call("Listen"), stream: stream)) }
        for stream in batch { try await connection.send(RawRequest.frame(3, stream: stream, [0, 0, 0, 8])) }
      }
      for _ in 0..<500 { try await connection.send(RawRequest.frame(6, [UInt8](repeating: 1, count: 8))) }
      try await connection.send(
        RawRequest.headers(RawRequest.call("GetDocument"), stream: 1_001)
          + RawRequest.data(Self.getRequest, stream: 1_001))
      #expect(await connection.response(stream: 1_001).last?.isLast == true)
      try await connection.close()
    }
    #expect(await backend.watchCount == 0)
  }

  @Test("A call ends at its deadline", arguments: ["Write", "RunQuery"])
  func deadline(method: String) async throws {
    try await Server.run(try LocalBackend.inMemory()) { server in
      let connection = try await RawConnection(to: server)
      try await connection.send(RawRequest.headers(RawRequest.call(method) + [("grpc-timeout", "20m")]))
      let response = await connection.response()
      #expect(try RawConnection.headers(in: response).contains("grpc-status: 4"))
      try await connection.close()
    }
  }

  @Test("A shutdown is announced, ends streams and closes connections after their calls")
  func shutdown() async throws {
    let backend = try LocalBackend.inMemory()
    let opened = Events<Task<[RawConnection.Frame], Never>>()
    try await Server.run(backend, clock: ManualClock()) { server in
      let connection = try await RawConnection(to: server)
      let request = Self.message { $0.field(1, string: "projects/p/databases/(default)") }
      try await connection.send(
        RawRequest.headers(RawRequest.call("Write")) + RawRequest.data(request, isLast: false))
      var frames = connection.frames.makeAsyncIterator()
      var greeting: [RawConnection.Frame] = []
      while let frame = await frames.next() {
        greeting.append(frame)
        if frame.type == RawConnection.Frame.data { break }
      }
      opened.send(
        Task { [greeting] in
          var all = greeting
          for await frame in connection.frames {
            all.append(frame)
            if frame.type == RawConnection.Frame.ping {
              try? await connection.send(RawRequest.frame(6, flags: 1, frame.payload))
            }
          }
          return all
        })
    }
    let frames = await opened.next()?.value ?? []
    // The last possible call, then the last that there was.
    let last = frames.filter { $0.type == RawConnection.Frame.goAway }.map { Array($0.payload.prefix(4)) }
    #expect(last == [[0x7F, 0xFF, 0xFF, 0xFF], [0, 0, 0, 1]])
    #expect(
      try RawConnection.headers(in: frames).suffix(2) == [
        "grpc-status: 14", "grpc-message: The server is shutting down.",
      ])
    #expect(await backend.watchCount == 0)
  }

  @Test("A call's error message arrives unchanged, including non-ASCII characters")
  func messages() async throws {
    let key = DocumentKey(unchecked: ResourcePath("c/é%🎉 "))
    let mutation = Mutation(key: key, operation: .patch([:], FieldMask([])), precondition: .exists(true))
    let backend = try LocalBackend.inMemory()
    let expected = await #expect(throws: RPCStatus.self) { try await backend.commit([mutation], in: database) }
    #expect(expected?.message.contains("é%🎉") == true)
    try await Server.run(backend) { server in
      let datastore = GRPCDatastore(server, database: database, credentials: .emulatorOwner)
      let refusal = await #expect(throws: RPCStatus.self) { try await datastore.commit([mutation]) }
      #expect(refusal == expected)
      await datastore.close()
    }
  }

}

extension Array {
  fileprivate func chunks(of count: Int) -> [ArraySlice<Element>] {
    stride(from: 0, to: self.count, by: count).map { self[$0..<Swift.min($0 + count, self.count)] }
  }
}
