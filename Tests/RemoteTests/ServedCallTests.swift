// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreGRPC
import FirestoreModel
import FirestoreRemote
import Testing

/// How calls look on the line that are answered without gRPC's server: small requests, and Listen.
@Suite(.timeLimit(.minutes(5)))
struct ServedCallTests {
  private static let database = DatabaseID(project: "p")
  private static let key = DocumentKey(unchecked: ResourcePath("c/a"))

  private static func message(_ write: (inout WireWriter) -> Void) -> [UInt8] {
    var writer = WireWriter()
    write(&writer)
    return RawRequest.message(writer.bytes)
  }

  private static let getRequest = message { $0.field(1, string: "projects/p/databases/(default)/documents/c/a") }

  private static func set(_ text: String) -> [Mutation] {
    [Mutation(key: key, operation: .set(["text": .string(text)]), precondition: .none)]
  }

  @Test("A request in any number of frames gets the same response")
  func frames() async throws {
    let backend = try LocalBackend.inMemory()
    try await backend.commit(Self.set("here"), in: Self.database)
    try await Server.run(backend) { server in
      let connection = try await RawConnection(to: server)
      let request = Self.getRequest
      let splits: [[ArraySlice<UInt8>]] = [
        [request[...]], [request.prefix(5), request.dropFirst(5)], request.indices.map { request[$0...$0] },
        [request[...], []],
      ]
      var responses: [[UInt8]] = []
      for (index, parts) in splits.enumerated() {
        let stream = UInt32(2 * index + 1)
        try await connection.send(RawRequest.headers(RawRequest.call("GetDocument"), stream: stream))
        for (number, part) in parts.enumerated() {
          try await connection.send(
            RawRequest.data(Array(part), stream: stream, isLast: number == parts.count - 1))
        }
        let response = await connection.response(stream: stream)
        #expect(response.map(\.type) == [1, 0, 1] && response.last?.isLast == true)
        responses.append(response.filter { $0.type == RawConnection.Frame.data }.flatMap(\.payload))
      }
      #expect(Set(responses).count == 1 && responses[0].containsText("here"))
      try await connection.close()
    }
  }

  @Test("What a call ends with arrives as it was said, in any script")
  func messages() async throws {
    let key = DocumentKey(unchecked: ResourcePath("c/é%🎉 "))
    let mutation = Mutation(key: key, operation: .patch([:], FieldMask([])), precondition: .exists(true))
    let backend = try LocalBackend.inMemory()
    let expected = await #expect(throws: RPCStatus.self) { try await backend.commit([mutation], in: Self.database) }
    #expect(expected?.message.contains("é%🎉") == true)
    try await Server.run(backend) { server in
      let datastore = GRPCDatastore(server, database: Self.database, credentials: .emulatorOwner)
      let refusal = await #expect(throws: RPCStatus.self) { try await datastore.commit([mutation]) }
      #expect(refusal == expected)
      await datastore.close()
    }
  }

  @Test("A listener that does not read is told the newest state once it does, not every change")
  func slowListener() async throws {
    let backend = try LocalBackend.inMemory()
    try await backend.commit(Self.set("first"), in: Self.database)
    try await Server.run(backend) { server in
      let connection = try await RawConnection(to: server, window: 0)
      let request = Self.message { writer in
        writer.field(1, string: "projects/p/databases/(default)")
        writer.field(2) { writer in
          writer.field(3) { $0.field(2, string: "projects/p/databases/(default)/documents/c/a") }
          writer.field(5, varint: 2)
        }
      }
      try await connection.send(
        RawRequest.headers(RawRequest.call("Listen")) + RawRequest.data(request, isLast: false))
      var iterator = connection.frames.makeAsyncIterator()
      while let frame = await iterator.next(), frame.type != RawConnection.Frame.headers {}
      for number in 0..<1_000 { try await backend.commit(Self.set("change \(number)"), in: Self.database) }
      try await backend.commit(Self.set("the last"), in: Self.database)
      try await connection.widen(stream: 1, by: 1 << 20)
      var received = 0
      while let frame = await iterator.next() {
        guard frame.type == RawConnection.Frame.data else { continue }
        received += frame.payload.count
        if frame.payload.containsText("the last") { break }
      }
      // A thousand changes are some 150 kB; what had been written when the line became full is a tenth of it.
      #expect(received < 30_000)
      try await connection.close()
    }
    #expect(await backend.watchCount == 0)
  }

  @Test("A Listen call that ends badly ends at once, and the connection goes on")
  func listenFailure() async throws {
    try await Server.run(try LocalBackend.inMemory()) { server in
      let connection = try await RawConnection(to: server)
      try await connection.send(
        RawRequest.headers(RawRequest.call("Listen"))
          + RawRequest.data(RawRequest.message([0x0A, 0x01, 0x78]), isLast: false))
      let response = await connection.response()
      #expect(response.map(\.type) == [1, 1] && response.last?.isLast == true)
      try await connection.send(
        RawRequest.headers(RawRequest.call("GetDocument"), stream: 3) + RawRequest.data(Self.getRequest, stream: 3))
      #expect(await connection.response(stream: 3).last?.isLast == true)
      try await connection.close()
    }
  }
}

extension [UInt8] {
  fileprivate func containsText(_ text: String) -> Bool {
    let text = Array(text.utf8)
    return count >= text.count && indices.dropLast(text.count - 1).contains { self[$0...].starts(with: text) }
  }
}
