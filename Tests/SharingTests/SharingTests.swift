// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import FirestoreBackend
import FirestoreEmulator
import FirestoreLocal
import FirestoreModel
import FirestoreQuery
import FirestoreServer
import Foundation
import SeededRandom
import Testing

/// Several processes on one cache. `HEARTH_FULL=1` goes on for ten minutes with four, and looks how long a gap takes.
/// `HEARTH_SHARING_SEED` repeats a run, as far as processes can.
@Suite(.besideOthers, .serialized, .timeLimit(.minutes(30))) struct SharingTests {
  private static let database = DatabaseID(project: "shared", database: "(default)")
  private static let duration = Duration.seconds(Waiting.isFull ? 600 : 0)
  private static let count = Waiting.isFull ? 4 : 3
  /// How often somebody is killed and stopped at least, and how seldom: each time one of as many looks.
  private static let (leastBlows, calmness) = Waiting.isFull ? (20, 20) : (2, 6)

  private let cache = FileManager.default.temporaryDirectory.appending(path: "hearth-shared-\(UUID().uuidString)").path

  @Test("Processes killed or stopped on one cache neither lose nor repeat a write")
  func killedAndStopped() async throws {
    let backend = try LocalBackend(
      BackendConfiguration(location: .memory, now: Self.now), on: ServerThread.executor, pause: ServerThread.pause
    )
    defer { try? FileManager.default.removeItem(atPath: cache) }
    try await Self.serve(backend) { port in
      let seed =
        ProcessInfo.processInfo.environment["HEARTH_SHARING_SEED"].flatMap { UInt64($0) } ?? .random(in: 0..<1 << 32)
      print("Processes on one cache: HEARTH_SHARING_SEED=\(seed)")
      let written = try await use(backend, port, seed: seed)
      #expect(try await Self.missing(written, in: backend) == [], "writes are lost")
      let counts = try await Self.counts(backend)
      #expect(counts.increments == counts.documents, "writes are applied twice")
    }
    let store = try LocalStore(
      LocalStoreConfiguration(
        location: .directory(cache), policy: .leastRecentlyUsed(thresholdBytes: 1 << 20), database: Self.database))
    let violations = try store.checkInvariants()
    #expect(violations == [])
    store.close()
  }

  @Test("After the connected process is killed, another connects within a second")
  func takeOver() async throws {
    let backend = try LocalBackend(
      BackendConfiguration(location: .memory, now: Self.now), on: ServerThread.executor, pause: ServerThread.pause
    )
    defer { try? FileManager.default.removeItem(atPath: cache) }
    try await Self.serve(backend) { port in
      let first = try SharingProcess(cache, port: port, from: 0, seed: 1)
      try await first.ask("stop")
      #expect(try await first.ask("role") == " primary 1")
      let second = try SharingProcess(cache, port: port, from: 1_000_000, seed: 2)
      try await second.ask("stop")
      try await second.ask("user -")
      #expect(try await second.ask("role") == " secondary 2")
      try await second.ask("show")

      let written = try await first.kill()
      let began = ContinuousClock.now
      while try await second.ask("role") != " primary 1" {}
      let gap = ContinuousClock.now - began
      print("From one process with the connection to the next: \(gap)")
      if Waiting.isFull { #expect(gap < .seconds(1), "it took \(gap)") }
      try await second.ask("sent")
      try await second.ask("user other")
      try await second.ask("sent")

      #expect(try await Self.missing(written + second.written, in: backend) == [])
      try await second.shows("\(try await Self.counts(backend).documents) server clean")
    }
  }

  /// Uses the cache from several processes, of which some are killed, and others stopped for a while.
  /// - Returns: the numbers of the writes that they committed to it.
  private func use(_ backend: LocalBackend, _ port: Int, seed: UInt64) async throws -> [Int] {
    var random = SeededGenerator(seed: seed)
    var written: [Int] = []
    var started = 0
    func start() throws -> SharingProcess {
      started += 1
      return try SharingProcess(cache, port: port, from: started * 1_000_000, seed: random.next())
    }
    var clients: [SharingProcess] = []
    for _ in 0..<Self.count { clients.append(try start()) }
    let end = ContinuousClock.now + Self.duration
    var (kills, stops) = (0, 0)
    while kills < Self.leastBlows || stops < Self.leastBlows || ContinuousClock.now < end {
      for client in clients { try await client.listen(until: .now + .milliseconds(20)) }
      let victim = Int.random(in: 0..<clients.count, using: &random)
      switch Int.random(in: 0..<Self.calmness, using: &random) {
      case 0 where Waiting.isFull || kills < Self.leastBlows:
        kills += 1
        written += try await clients[victim].kill()
        clients[victim] = try start()
      case 1:
        stops += 1
        let process = clients[victim].process.id
        kill(process, SIGSTOP)
        let wake =
          ContinuousClock.now + .milliseconds(Int.random(in: 10..<(Waiting.isFull ? 9_000 : 150), using: &random))
        for (index, client) in clients.enumerated() where index != victim { try await client.listen(until: wake) }
        kill(process, SIGCONT)
      default: break
      }
    }
    print("\(kills) were killed, \(stops) stopped for a while")
    for client in clients { try await client.ask("stop") }
    for user in ["other", "-"] {
      for client in clients { try await client.ask("user \(user)") }
      for client in clients { try await client.ask("sent") }
    }
    written += clients.flatMap(\.written)
    for client in clients { try await client.ask("show") }
    // More than they said, where one was killed between writing and saying so.
    let count = try await Self.counts(backend).documents
    do {
      for client in clients { try await client.shows("\(count) server clean") }
    } catch {
      var states: [String] = []
      for client in clients { states.append("\(client.process.id) \(client.shown):\(try await client.ask("status"))") }
      throw Failure("\(error)\n" + states.joined(separator: "\n"))
    }
    for client in clients {
      client.process.closeInput()
      #expect(try await client.process.exitStatus() == 0)
    }
    return written
  }

  private static func serve(_ backend: LocalBackend, _ body: (Int) async throws -> Void) async throws {
    let server = EmulatorServer(EmulatorServer.Configuration(port: 0), backend: backend)
    let (ports, continuation) = AsyncStream<Int>.makeStream()
    let serving = Task {
      defer { continuation.finish() }
      try await server.run { continuation.yield($0) }
    }
    for await port in ports {
      let result: Result<Void, any Error>
      do { result = .success(try await body(port)) } catch { result = .failure(error) }
      await server.shutDown()
      try await serving.value
      return try result.get()
    }
  }

  /// Which of the writes are not at the backend.
  private static func missing(_ written: [Int], in backend: LocalBackend) async throws -> [Int] {
    let keys = written.map { DocumentKey(unchecked: ResourcePath("writes/\($0)")) }
    let documents = try await backend.lookup(keys, in: database).documents
    return zip(written, documents).compactMap { number, document in document.exists ? nil : number }
  }

  /// How many documents were written, and what the counters say.
  private static func counts(_ backend: LocalBackend) async throws -> (documents: Int, increments: Int) {
    func figure(_ function: Aggregation.Function, _ collection: String) async throws -> Int {
      let request = ReadRequest(ServedQuery(Query(path: ResourcePath(collection)).target), in: database)
      let value = try await backend.aggregate(request, [Aggregation(alias: "n", function: function)]).values["n"]
      guard case .integer(let integer) = value else { return 0 }
      return Int(integer)
    }
    return (try await figure(.count, "writes"), try await figure(.sum(FieldPath("n")), "counters"))
  }

  @Sendable private static func now() -> Timestamp {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
  }
}
