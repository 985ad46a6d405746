// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import FirestoreBackend
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreQuery
import Foundation
import Testing

@Suite(.besideOthers, .serialized) struct CrashTests {
  /// How often the client is killed; 15 unless the environment says otherwise.
  static let kills = ProcessInfo.processInfo.environment["HEARTH_CRASHES"].flatMap { Int($0) } ?? 15

  @Test("S10: A client killed at any moment keeps every reported write, applied only once")
  func killed() async throws {
    let place = try CrashPlace()
    var random = SystemRandomNumberGenerator()
    for kill in 0..<Self.kills {
      let seed = random.next()
      let lines = Int.random(in: 0...80, using: &random)
      let pause = Duration.microseconds(Int.random(in: 0..<(lines == 0 ? 60_000 : 2_000), using: &random))
      let reports = try await place.run(from: kill * 100_000, seed: seed, untilLines: lines, and: pause)
      try await place.check(reports, "kill \(kill), seed \(seed), after \(lines) lines and \(pause)")
    }

    try await place.drain()
    try await place.checkEverythingArrived()
  }
}

/// What a killed client said it had committed.
private struct Reports {
  var accepted: [String] = []
  var refused: [String] = []
}

private final class CrashPlace {
  private let folder: ClientFolder
  private var all = Reports()

  init() throws { folder = try ClientFolder() }

  /// Kills the client when it has reported so many writes and the pause is over.
  func run(from first: Int, seed: UInt64, untilLines lines: Int, and pause: Duration) async throws -> Reports {
    let process = try folder.start("endless", "\(first)", "\(seed)")
    var output: [UInt8] = []
    let limit = ContinuousClock.now + Waiting.limit
    while output.count(where: { $0 == 0x0A }) < lines {
      guard await Waiting.isReadable(process.output, by: limit) else { throw Failure("the client reports nothing") }
      let more = Waiting.read(process.output)
      if more.isEmpty { throw Failure("the client ended: \(try await ChildProcess.all(process.errors))") }
      output += more
    }
    // A random moment, not a wait for something.
    let moment = ContinuousClock.now + pause
    while ContinuousClock.now < moment {}
    kill(process.id, SIGKILL)
    let rest = try await ChildProcess.all(process.output)
    let status = try await process.exitStatus()
    #expect(status == 128 + SIGKILL)
    var reports = Reports()
    for line in (String(decoding: output, as: UTF8.self) + rest).split(separator: "\n") {
      if line.hasPrefix("w ") { reports.accepted.append("writes/" + line.dropFirst(2)) }
      if line.hasPrefix("r ") { reports.refused.append("missing/" + line.dropFirst(2)) }
    }
    all.accepted += reports.accepted
    all.refused += reports.refused
    return reports
  }

  func drain() async throws {
    // Hundreds of kills leave thousands of writes.
    let process = try folder.start("drain")
    #expect(try await process.exitStatus(within: .seconds(600)) == 0)
  }

  func check(_ reports: Reports, _ context: String) async throws {
    let (pending, rejected) = try checkCache(context)
    let missing = try await missingOnBackend(reports.accepted.filter { !pending.contains($0) })
    #expect(missing == [], "writes are lost: \(context)")
    let lost = reports.refused.filter { !pending.contains($0) && !rejected.contains($0) }
    #expect(lost == [], "refused writes are lost: \(context)")
    try await checkCount(context)
    for file in ["cache/cache.sqlite3", "backend/backend.sqlite3"] {
      #expect(try folder.integrityComplaint(of: file) == nil, "\(file), \(context)")
    }
  }

  func checkEverythingArrived() async throws {
    let (pending, _) = try checkCache("at the end")
    #expect(pending.isEmpty)
    #expect(try await missingOnBackend(all.accepted) == [])
    try await checkCount("at the end")
  }

  /// - Returns: the documents of the pending and of the rejected writes.
  private func checkCache(_ context: String) throws -> (pending: Set<String>, rejected: Set<String>) {
    let store = try folder.openCache()
    let violations = try store.checkInvariants()
    #expect(violations == [], "\(context)")
    let pending = try store.pendingBatches().flatMap(\.keys)
    let rejected = try store.rejectedWrites().flatMap(\.mutations).map(\.key)
    store.close()
    return (Set(pending.map(\.description)), Set(rejected.map(\.description)))
  }

  private func backend() throws -> LocalBackend {
    try LocalBackend(
      BackendConfiguration(location: .directory(folder.path + "/backend"), now: { Timestamp(seconds: 1_700_000_000) }))
  }

  private func missingOnBackend(_ paths: [String]) async throws -> [String] {
    let keys = paths.map { DocumentKey(unchecked: ResourcePath($0)) }
    let documents = try await backend().lookup(keys, in: ClientFolder.database).documents
    return zip(paths, documents).compactMap { path, document in document.exists ? nil : path }
  }

  private func figure(
    _ function: Aggregation.Function, of collection: String, _ backend: LocalBackend
  ) async throws -> Value? {
    let query = ServedQuery(Query(path: ResourcePath(collection)).target)
    let request = ReadRequest(query, in: ClientFolder.database)
    return try await backend.aggregate(request, [Aggregation(alias: "n", function: function)]).values["n"]
  }

  /// Each write adds one to a counter in the same batch, so a write that is applied twice shows.
  private func checkCount(_ context: String) async throws {
    let backend = try backend()
    let count = try await figure(.count, of: "writes", backend)
    let total = try await figure(.sum(FieldPath("n")), of: "counters", backend)
    #expect(count == total, "writes are applied twice: \(context)")
  }
}
