// SPDX-License-Identifier: Apache-2.0
import BenchmarkResults
import FirestoreLocal
import FirestoreModel
import FirestoreQuery
import Foundation

extension BenchmarkCase {
  /// Cases that measure memory. Each runs in a separate process, because a process rarely returns memory to the system.
  static let memoryCases = [
    BenchmarkCase(
      name: "resident-memory", summary: "memory of a process after it opens the cache and gets a first snapshot"
    ) {
      bench in
      let path = try bench.copyOfFilledCache()
      defer { bench.remove(path) }
      return try ResidentProbe.allCases.map { probe in
        let megabytes = try (0..<3).map { _ in try probe.measureInOwnProcess(path) }
        return Reading(
          variant: probe.rawValue, unit: .megabytes, goal: probe.goal,
          samples: megabytes.map { Sample(wall: 0, cpu: 0, count: $0) })
      }
    }
  ]
}

/// The work that a separate process does before it reports its memory.
enum ResidentProbe: String, CaseIterable {
  case start
  case syncedStart = "synced start"
  case query = "unindexed query"
  case collection = "whole collection"

  /// The maximum acceptable memory in MB with 100 000 documents.
  var goal: Double? {
    switch self {
    case .start: nil
    case .syncedStart: 30
    case .query: 45
    case .collection: 110
    }
  }

  private var listenedTo: Query? {
    switch self {
    case .start: nil
    case .syncedStart: Workbench.equalityQuery(Workbench.syncedState)
    case .query: Workbench.equalityQuery(11)
    case .collection: Workbench.collectionQuery
    }
  }

  func measureInOwnProcess(_ cache: String) throws -> Double {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = ["--resident-probe", rawValue, "--cache", cache]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    guard let megabytes = Double(text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
      throw SQLiteFloor.Failure(description: "The measuring process answered “\(text)”.")
    }
    return megabytes
  }

  static func run(_ name: String, _ cache: String) throws {
    guard let probe = ResidentProbe(rawValue: name) else { return }
    var client = try BenchClient(cache)
    if let query = probe.listenedTo { _ = client.listen(query) }
    // The size is unknown without /proc; then 0 is printed.
    print(ProcessMemory.resident ?? 0)
    client.close()
  }
}

extension BenchmarkCase {
  /// Cases whose values should be independent of the number of cached documents.
  static let scalingCases = [
    BenchmarkCase(
      name: "scale-other-collection",
      summary: "a scan of 1000 documents next to a collection of the given size; should be constant"
    ) { bench in
      var reading = Reading(unit: .milliseconds, samples: [])
      let path = try bench.copyOfFilledCache()
      defer { bench.remove(path) }
      var store = try LocalStore(Workbench.configuration(path))
      try store.start(user: nil)
      _ = try store.apply(bench.event(SampleData.documents(1_000, in: SampleData.otherCollection), bench.size + 1))
      var client = try BenchClient(store)
      let query = Workbench.equalityQuery(11, in: SampleData.otherCollection)
      for _ in 0..<9 {
        let (sample, (listener, _)) = measure { client.listen(query) }
        client.stop(listener)
        reading.samples.append(sample)
      }
      client.close()
      return [reading]
    },
    BenchmarkCase(
      name: "scale-write",
      summary:
        "a local write with 0 and 10000 pending writes, next to a collection of the given size; should be constant"
    ) { bench in try [0, 10_000].map { try localWrite(bench, pending: $0) } },
  ]

  /// - Parameter pending: the number of pending writes to other documents.
  private static func localWrite(_ bench: Workbench, pending: Int) throws -> Reading {
    var reading = Reading(variant: "\(pending) pending", unit: .microseconds, samples: [])
    reading.dimension = .pendingWrites(pending + 1)
    let path = try bench.copyOfFilledCache()
    defer { bench.remove(path) }
    var store = try LocalStore(Workbench.configuration(path))
    try store.start(user: nil)
    let villages = SampleData.documents(1_000, in: SampleData.otherCollection)
    _ = try store.apply(bench.event(villages, bench.size + 1))
    var client = try BenchClient(store)
    for number in 0..<pending { try client.write([patch(bench.documents[number % bench.size], number)]) }
    _ = client.listen(Workbench.equalityQuery(11, in: SampleData.otherCollection))
    for round in 0..<9 {
      client.forgetEffects()
      let mutations = (0..<100).map { patch(villages[round * 100 + $0], $0) }
      reading.samples.append(
        try measure(count: mutations.count) { for mutation in mutations { try client.write([mutation]) } }.sample)
    }
    client.close()
    return reading
  }
}
