// SPDX-License-Identifier: Apache-2.0
import ClientTesting
import FirestoreBackend
import FirestoreGRPC
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreTesting
import Foundation
import SeededRandom
import Testing

/// What strangers may send to the port. `HEARTH_HOSTILE_CONNECTIONS` and `HEARTH_STREAMS` set how much of it there is:
/// 10000 and 1000 are the full measure.
@Suite(.timeLimit(.minutes(10)), .serialized)
struct HostileConnectionTests {
  private static func number(_ name: String, orElse usual: Int) -> Int {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? usual
  }

  private static let methods = [
    "GetDocument", "ListDocuments", "Commit", "BatchWrite", "BatchGetDocuments", "RunQuery", "RunAggregationQuery",
    "PartitionQuery", "ListCollectionIds", "BeginTransaction", "Listen", "Write", "ExecutePipeline", "Nothing",
  ]

  private static func garbage(_ generator: inout SeededGenerator, upTo count: Int) -> [UInt8] {
    (0..<Int.random(in: 0...count, using: &generator)).map { _ in .random(in: 0...255, using: &generator) }
  }

  /// Frames that come near to a call, and some that do not.
  private static func exchange(_ generator: inout SeededGenerator) -> [UInt8] {
    var headers = RawRequest.call(methods.randomElement(using: &generator) ?? "Commit")
    let database = "projects/p/databases/(default)"
    let named = [0x0A, UInt8(database.utf8.count)] + Array(database.utf8) + garbage(&generator, upTo: 60)
    let body = Bool.random(using: &generator) ? named : garbage(&generator, upTo: 300)
    let opening = RawRequest.preface + RawRequest.settings
    switch UInt8.random(in: 0..<9, using: &generator) {
    case 0: return opening + RawRequest.headers(headers) + RawRequest.data(RawRequest.message(body))
    case 1:
      // The prefix lies.
      let length = UInt32.random(in: 0...UInt32(Bool.random(using: &generator) ? 400 : UInt32.max), using: &generator)
      let flag = UInt8.random(in: 0...2, using: &generator)
      return opening + RawRequest.headers(headers)
        + RawRequest.data(RawRequest.message(body, flag: flag, length: length))
    case 2:
      headers.remove(at: .random(in: headers.indices, using: &generator))
      return opening + RawRequest.headers(headers) + RawRequest.data(RawRequest.message(body))
    case 3:
      let whole = opening + RawRequest.headers(headers) + RawRequest.data(RawRequest.message(body))
      return Array(whole.prefix(.random(in: 0...whole.count, using: &generator)))
    case 4:
      var whole = opening + RawRequest.headers(headers) + RawRequest.data(RawRequest.message(body))
      for _ in 0..<4 {
        let bit = UInt8(1) << UInt8.random(in: 0..<8, using: &generator)
        whole[Int.random(in: whole.indices, using: &generator)] ^= bit
      }
      return whole
    case 5:
      return (0..<6).reduce(into: opening) { bytes, _ in
        let payload = garbage(&generator, upTo: 40)
        let length = Bool.random(using: &generator) ? payload.count : Int.random(in: 0..<1 << 24, using: &generator)
        bytes += RawRequest.frame(
          .random(in: 0...12, using: &generator), flags: .random(in: 0...255, using: &generator),
          stream: .random(in: 0...5, using: &generator), length: length, payload)
      }
    case 6:
      // Several calls, one of which is taken back.
      return opening + RawRequest.headers(headers, stream: 1) + RawRequest.headers(headers, stream: 3)
        + RawRequest.data(RawRequest.message(body), stream: 3, isLast: false)
        + RawRequest.frame(3, stream: 1, [0, 0, 0, 8]) + RawRequest.data(body, stream: 3)
    case 7:
      let head =
        "\(["GET", "DELETE", "PUT", "POST"].randomElement(using: &generator) ?? "GET") /%zz/emulator HTTP/1.1\r\n\r\n"
      return Array(head.utf8.prefix(.random(in: 0...head.utf8.count, using: &generator)))
    default: return garbage(&generator, upTo: 200)
    }
  }

  @Test("Random, truncated and mutated frames neither stop a server nor leak listeners")
  func frames() async throws {
    let count = Self.number("HEARTH_HOSTILE_CONNECTIONS", orElse: 400)
    let backend = try LocalBackend.inMemory()
    let seed = UInt64.random(in: .min ... .max)
    try await Server.run(backend) { server in
      var generator = SeededGenerator(seed: seed)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for index in 0..<count {
          let bytes = Self.exchange(&generator)
          if index >= 16 { try await group.next() }
          group.addTask { try await RawRequest.send(bytes, to: server) }
        }
        try await group.waitForAll()
      }
      let datastore = GRPCDatastore(server, database: database, credentials: .emulatorOwner)
      let answer = try await datastore.lookup([DocumentKey(unchecked: ResourcePath("c/none"))])
      #expect(answer.map(\.exists) == [false], "seed \(seed)")
      await datastore.close()
    }
    #expect(await backend.watchCount == 0, "seed \(seed)")
  }

  @Test("A connection over the limit is rejected with a reason, and others continue")
  func tooMany() async throws {
    try await Server.run(try LocalBackend.inMemory(), connections: 2) { server in
      let datastore = GRPCDatastore(server, database: database, credentials: .emulatorOwner)
      let key = DocumentKey(unchecked: ResourcePath("c/none"))
      _ = try await datastore.lookup([key])
      let second = try await RawConnection(to: server)
      for await _ in second.frames { break }

      let third = try await RawConnection(to: server)
      var frames: [RawConnection.Frame] = []
      for await frame in third.frames { frames.append(frame) }

      #expect(frames.map(\.type) == [4, RawConnection.Frame.goAway])
      #expect(frames.last?.payload.prefix(8) == [0, 0, 0, 0, 0, 0, 0, 11])
      #expect(frames.last.map { String(decoding: $0.payload.dropFirst(8), as: UTF8.self) } == "too_many_connections")
      #expect(try await datastore.lookup([key]).map(\.exists) == [false])
      try await second.close()
      // Its place is free when the server has seen its end.
      var isServed = false
      while !isServed {
        let fourth = try await RawConnection(to: server)
        try? await fourth.send(RawRequest.frame(6, [UInt8](repeating: 1, count: 8)))
        for await frame in fourth.frames where frame.type == RawConnection.Frame.ping {
          isServed = true
          break
        }
        try? await fourth.close()
      }
      await datastore.close()
    }
  }

  @Test("An oversized message is rejected, and its connection continues")
  func oversized() async throws {
    try await Server.run(try LocalBackend.inMemory()) { server in
      let datastore = GRPCDatastore(server, database: database, credentials: .emulatorOwner)
      let large = (0..<13).map { number in
        Mutation(
          key: DocumentKey(unchecked: ResourcePath("c/d\(number)")),
          operation: .set(["b": .bytes([UInt8](repeating: 7, count: 1_000_000))]), precondition: .none)
      }
      for _ in 0..<3 {
        let refusal = await #expect(throws: RPCStatus.self) { try await datastore.commit(large) }
        #expect(refusal?.code == .invalidArgument)
        #expect(refusal?.message.hasPrefix("Request payload size exceeds the limit: 11534336 bytes.") == true)
        let accepted = try await datastore.commit(Array(large.prefix(1)))
        #expect(accepted.results.count == 1)
      }
      await datastore.close()
    }
  }

  @Test("Repeatedly opening many streams leaks nothing")
  func streams() async throws {
    let count = Self.number("HEARTH_STREAMS", orElse: 100)
    let backend = try LocalBackend.inMemory()
    let target = Query(path: ResourcePath("cities")).target
    try await Server.run(backend) { server in
      var memory: [Int] = []
      for _ in 0..<(count < 1_000 ? 2 : 10) {
        let datastore = GRPCDatastore(server, database: database, credentials: .emulatorOwner)
        let current = Events<Bool>()
        await withTaskGroup(of: Void.self) { group in
          for _ in 0..<count {
            group.addTask {
              let (requests, say) = AsyncStream.makeStream(of: WatchRequest.self)
              say.yield(.add(WatchTarget(id: TargetID(2), target: target)))
              try? await datastore.watch(
                requests: StreamRequests {
                  for await request in requests { return request }
                  return nil
                }
              ) { event in
                if case .changes(let changes) = event, changes.contains(where: \.isSnapshot) { current.send(true) }
              }
              say.finish()
            }
          }
          for _ in 0..<count { _ = await current.next() }
          #expect(await backend.watchCount == count)
          group.cancelAll()
        }
        await datastore.close()
        memory.append(Self.residentMemory)
      }
      // The first rounds fill what the allocator then keeps.
      if memory.count >= 10 {
        print("resident after each round of \(count) streams, MB: \(memory)")
        #expect(memory[9] <= memory[4] + memory[4] / 10)
      }
    }
    #expect(await backend.watchCount == 0)
  }

  /// In MB.
  private static var residentMemory: Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
    return (line?.split(separator: " ").dropLast().last).flatMap { Int($0) }.map { $0 / 1024 } ?? 0
  }
}
