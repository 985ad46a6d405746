// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreBackend
import FirestoreClientState
import FirestoreGRPC
import FirestoreModel
import FirestoreProtocol
import FirestoreProxy
import FirestoreTesting
import Foundation
import Synchronization
import Testing

/// What HTTP/2 asks of a proxy: room for bytes, numbers and limits of streams, tables of headers, connections that end.
@Suite(.timeLimit(.minutes(10))) struct ProxyRelayTests {
  private func served(
    _ faults: [FaultChange] = [], _ body: @escaping @Sendable (Proxied, GRPCDatastore) async throws -> Void
  ) async throws {
    try await Server.run(try LocalBackend.inMemory()) { target in
      try await Proxied.run(to: target, faults) { proxy in
        let datastore = GRPCDatastore(proxy.endpoint, database: database, credentials: .emulatorOwner)
        try await body(proxy, datastore)
        await datastore.close()
      }
    }
  }

  private static func document(_ path: String, bytes: Int) -> FirestoreModel.Mutation {
    let value = Value.bytes([UInt8](repeating: 7, count: bytes))
    return Mutation(key: key(path), operation: .set(["b": value]), precondition: .none)
  }

  private static func code(_ body: () async throws -> Void) async -> StatusCode? {
    do { try await body() } catch { return (error as? RPCStatus)?.code ?? .unknown }
    return nil
  }

  @Test("Megabytes pass in both directions on concurrent calls")
  func large() async throws {
    try await served { _, datastore in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<4 {
          group.addTask {
            let documents = (0..<9).map { Self.document("c/d\(number)-\($0)", bytes: 900_000) }
            _ = try await datastore.commit(documents)
            let read = try await datastore.lookup(documents.map(\.key))
            #expect(read.allSatisfy { $0.exists })
          }
        }
        try await group.waitForAll()
      }
    }
  }

  @Test("A client with a small window gets the bytes that fit, and the rest later")
  func littleRoom() async throws {
    try await served { proxy, datastore in
      _ = try await datastore.commit([Self.document("c/a", bytes: 50_000)])
      let client = try await RawConnection(to: proxy.endpoint, window: 100)
      let name = "\(database.documentsName)/c/a"
      let message = [0x0A, UInt8(name.utf8.count)] + Array(name.utf8)
      try await client.send(RawRequest.headers(RawRequest.call("GetDocument")))
      try await client.send(RawRequest.data(RawRequest.message(message)))
      var (room, received, trailers) = (100, 0, 0)
      for await frame in client.frames where frame.stream == 1 {
        if frame.type == RawConnection.Frame.data, !frame.payload.isEmpty {
          received += frame.payload.count
          #expect(received <= room)
          room += 2 * frame.payload.count
          try await client.widen(stream: 1, by: UInt32(2 * frame.payload.count))
        }
        if frame.isLast {
          trailers += 1
          break
        }
      }
      #expect(received > 50_000 && trailers == 1)
      try await client.close()
    }
  }

  @Test("Calls that complete out of order get the right responses")
  func jitter() async throws {
    try await served([.latency(.zero, jitter: .milliseconds(20), on: nil)]) { _, datastore in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<60 {
          group.addTask {
            _ = try await datastore.commit([set("c/\(number)", ["n": .integer(Int64(number))])])
            let read = try await datastore.lookup([key("c/\(number)")])
            #expect(read[0][FirestoreModel.FieldPath("n")] == .integer(Int64(number)))
          }
        }
        try await group.waitForAll()
      }
    }
  }

  @Test("Calls succeed after rejected calls, whose headers the server never saw")
  func tables() async throws {
    try await served { proxy, datastore in
      for number in 0..<40 {
        if number.isMultiple(of: 3) { try await proxy.perform(.event(.read(.aborted))) }
        if number.isMultiple(of: 4) { try await proxy.perform(.event(.write(.reject(.aborted)))) }
        let written = await Self.code { _ = try await datastore.commit([set("c/\(number)", [:])]) }
        #expect(written == (number.isMultiple(of: 4) ? .aborted : nil))
        let read = await Self.code { _ = try await datastore.lookup([key("c/\(number)")]) }
        #expect(read == (number.isMultiple(of: 3) ? .aborted : nil))
      }
    }
  }

  @Test("Rejected calls release their window, so large calls continue to pass")
  func dropped() async throws {
    try await served([.down(.write)]) { proxy, datastore in
      for _ in 0..<30 {
        let refused = await Self.code { _ = try await datastore.commit([Self.document("c/a", bytes: 700_000)]) }
        #expect(refused == .unavailable)
      }
      try await proxy.perform(.up)
      _ = try await datastore.commit([Self.document("c/a", bytes: 700_000)])
    }
  }

  @Test("A server that allows one stream gets each call after the previous call ends")
  func oneAtATime() async throws {
    try await RawServer.run { server in
      let most = Task { () -> Int in
        for await connection in server.connections {
          await connection.send(RawRequest.frame(4, [0, 3, 0, 0, 0, 1]))
          var (open, most) = (Set<UInt32>(), 0)
          for await frame in connection.frames {
            if frame.type == RawConnection.Frame.headers { open.insert(frame.stream) }
            most = max(most, open.count)
            guard frame.isLast else { continue }
            await connection.send(RawRequest.answer(5, stream: frame.stream))
            open.remove(frame.stream)
          }
          return most
        }
        return 0
      }
      try await Proxied.run(to: server.endpoint) { proxy in
        let datastore = GRPCDatastore(proxy.endpoint, database: database, credentials: .emulatorOwner)
        // The settings are there when the first call has been answered.
        _ = await Self.code { _ = try await datastore.lookup([key("c/a")]) }
        await withTaskGroup(of: StatusCode?.self) { group in
          for _ in 0..<5 { group.addTask { await Self.code { _ = try await datastore.lookup([key("c/a")]) } } }
          for await code in group { #expect(code == .notFound) }
        }
        await datastore.close()
      }
      #expect(await most.value == 1)
    }
  }

  @Test("A client pauses while 32 MiB wait for its server, and then continues")
  func unread() async throws {
    let bound = 32 << 20
    try await RawServer.run { server in
      try await Proxied.run(to: server.endpoint) { proxy in
        let client = try await RawConnection(to: proxy.endpoint)
        var frames = client.frames.makeAsyncIterator()
        var rooms: [UInt32: Int] = [0: 65_535, 1: 1 << 20]
        func note(_ frame: RawConnection.Frame) {
          guard frame.type == RawConnection.Frame.windowUpdate else { return }
          rooms[frame.stream, default: 0] += frame.payload.reduce(0) { $0 << 8 | Int($1) }
        }
        func hasRoom() -> Bool { rooms.values.allSatisfy { $0 >= 16_000 } }
        try await client.send(RawRequest.headers(RawRequest.call("Write")))
        var connections = server.connections.makeAsyncIterator()
        let connection = try #require(await connections.next())
        await connection.send(RawRequest.settings)

        // Messages of 63 frames, of which the first one has the length.
        let frame = [UInt8](repeating: 0, count: 16_000)
        let first = [0] + withUnsafeBytes(of: UInt32(63 * 16_000 - 5).bigEndian, Array.init) + frame.dropFirst(5)
        var sent = 0
        func fill() async throws {
          var bytes: [UInt8] = []
          while hasRoom() {
            bytes += RawRequest.data((sent / 16_000).isMultiple(of: 63) ? first : frame, stream: 1, isLast: false)
            sent += 16_000
            for stream in rooms.keys { rooms[stream, default: 0] -= 16_000 }
          }
          try await client.send(bytes)
        }
        // Below the bound there is room sooner or later.
        while sent < bound - (2 << 20) {
          while !hasRoom(), let frame = await frames.next() { note(frame) }
          try await fill()
        }
        // The proxy answers a ping after the frames before it. What comes later than twenty answers is not waited for.
        for _ in 0..<20 where sent < 3 * bound {
          try await fill()
          try await client.send(RawRequest.frame(6, [UInt8](repeating: 1, count: 8)))
          while let frame = await frames.next(), frame.type != RawConnection.Frame.ping { note(frame) }
        }
        #expect(sent < bound + (8 << 20), "\(sent)")

        let more = withUnsafeBytes(of: UInt32(2 * bound).bigEndian, Array.init)
        await connection.send(RawRequest.frame(8, stream: 0, more) + RawRequest.frame(8, stream: 1, more))
        while !hasRoom(), let frame = await frames.next() { note(frame) }
        #expect(hasRoom())
        try await client.close()
      }
    }
  }

  @Test("After GOAWAY another connection is used, and unprocessed calls are refused")
  func goAway() async throws {
    try await RawServer.run { server in
      let served = Task { () -> Int in
        var count = 0
        for await connection in server.connections {
          count += 1
          await connection.send(RawRequest.settings)
          guard let call = await connection.next(RawConnection.Frame.headers) else { continue }
          if count == 1 {
            await connection.send(RawRequest.frame(7, [0, 0, 0, 0, 0, 0, 0, 0]))
            await connection.end()
          } else {
            await connection.send(RawRequest.answer(5, stream: call.stream))
            return count
          }
        }
        return count
      }
      try await Proxied.run(to: server.endpoint) { proxy in
        let datastore = GRPCDatastore(proxy.endpoint, database: database, credentials: .emulatorOwner)
        let first = await Self.code { _ = try await datastore.lookup([key("c/a")]) }
        if first == .unavailable {
          #expect(await Self.code { _ = try await datastore.lookup([key("c/a")]) } == .notFound)
        } else {
          // The client has sent it again by itself, as it may.
          #expect(first == .notFound)
        }
        #expect(proxy.events.all.contains { $0.status?.message.contains("REFUSED_STREAM") == true })
        await datastore.close()
      }
      #expect(await served.value == 2)
    }
  }

  @Test("While silent the proxy does not answer PING, so clients can detect it")
  func silence() async throws {
    try await served { proxy, _ in
      let client = try await RawConnection(to: proxy.endpoint)
      let ping = RawRequest.frame(6, [UInt8](repeating: 1, count: 8))
      try await client.send(ping)
      for await frame in client.frames where frame.type == RawConnection.Frame.ping { break }
      try await proxy.perform(.silent)
      try await client.send(ping)
      // The end of the silence breaks the connection, with no answer before.
      try await proxy.perform(.up)
      for await frame in client.frames { #expect(frame.type != RawConnection.Frame.ping) }
    }
  }

  @Test("Responses to a slow reader arrive complete at its configured rate")
  func slowReader() async throws {
    try await served { proxy, datastore in
      _ = try await datastore.commit([Self.document("c/a", bytes: 100_000)])
      try await proxy.perform(.slowReader(1_000_000))
      let start = ContinuousClock.now
      let read = try await datastore.lookup([key("c/a")])
      #expect(read[0].exists && ContinuousClock.now - start >= .milliseconds(99))
    }
  }
}
