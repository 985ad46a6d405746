// SPDX-License-Identifier: Apache-2.0

#if HEARTH_CORE
  extension BenchmarkCase {
    /// Empty in a build without gRPC, because these cases need the public API.
    static let inspectionCases: [BenchmarkCase] = []
  }
#else
  import BenchmarkResults
  import FirestoreBackend
  import FirestoreModel
  import Foundation
  import Hearth
  import Synchronization

  extension BenchmarkCase {
    /// Cases that measure how much it costs a program to allow inspection, and to be inspected. The inspector is
    /// `hearth attach` in a separate process. The program `hearth` must be in the same folder as this program.
    static let inspectionCases = [
      BenchmarkCase(
        name: "inspected", summary: "100 listeners at 1000 changes/s: not watchable, watchable, watched"
      ) { bench in
        let programs = try await Inspected.variants(bench)
        var samples = programs.map { _ in [Sample]() }
        for round in 0..<bench.repetitions + 1 {
          for index in programs.indices {
            let sample = try await programs[index].change(1_000)
            // The first round is ignored, because it includes one-time work.
            if round > 0 { samples[index].append(sample) }
          }
        }
        for program in programs { try await program.end() }
        return zip(programs, samples).map { program, samples in
          Reading(variant: program.name, unit: .microseconds, samples: samples)
        }
      }
    ]
  }

  /// A client with a hundred listeners, and a backend with their documents.
  @MainActor private final class Inspected {
    private struct MissingProgram: Error, CustomStringConvertible {
      var description: String {
        "hearth is not in the folder of hearth-bench. Run: swift build -c release --product hearth"
      }
    }

    private static let listeners = 100
    private static let database = DatabaseID(project: "bench")

    let name: String
    private let backend: LocalBackend
    private let client: Firestore
    private let path: String
    private let bench: Workbench
    private let snapshots = Counter()
    private var watcher: Process?
    private var number = 0

    private final class Counter: Sendable {
      let count = Atomic(0)
    }

    static func variants(_ bench: Workbench) async throws -> [Inspected] {
      let programs = [
        try Inspected("not watchable", isInspectable: false, bench),
        try Inspected("watchable", isInspectable: true, bench),
        try Inspected("watched", isInspectable: true, bench),
      ]
      for program in programs { try await program.listen() }
      try programs[2].watch()
      try await Task.sleep(for: .seconds(2))
      return programs
    }

    private init(_ name: String, isInspectable: Bool, _ bench: Workbench) throws {
      self.name = name
      self.bench = bench
      path = bench.newPath()
      backend = try LocalBackend(BackendConfiguration(location: .memory, now: { Timestamp(seconds: 1_800_000_000) }))
      client = Firestore.firestore(
        app: FirestoreApp(
          name: path, projectID: "bench",
          backend: .datastore(InProcessDatastore(backend: backend, database: Self.database)), cacheDirectory: path))
      let settings = FirestoreSettings()
      settings.isInspectable = isInspectable
      client.settings = settings
    }

    private func listen() async throws {
      for group in 0..<Self.listeners { try await commit(group) }
      for group in 0..<Self.listeners {
        client.collection("items").whereField("group", isEqualTo: group).addSnapshotListener { [snapshots] _, _ in
          snapshots.count.add(1, ordering: .relaxed)
        }
      }
      try await reach(Self.listeners)
    }

    /// Starts to inspect the second client of this process that can be inspected.
    private func watch() throws {
      let folder = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
      let program = folder.appending(path: "hearth")
      guard FileManager.default.isExecutableFile(atPath: program.path) else { throw MissingProgram() }
      let process = Process()
      process.executableURL = program
      process.arguments = ["attach", "\(ProcessInfo.processInfo.processIdentifier)-2", "--json"]
      process.standardOutput = FileHandle.nullDevice
      try process.run()
      watcher = process
    }

    private func commit(_ group: Int) async throws {
      number += 1
      let fields: Fields = [
        "group": .integer(Int64(group)), "number": .integer(Int64(number)), "name": .string("item of the benchmark"),
      ]
      let key = DocumentKey(unchecked: ResourcePath("items/\(group)"))
      _ = try await backend.commit([Mutation(key: key, operation: .set(fields))], in: Self.database)
    }

    /// Makes changes, one per millisecond, and waits until the listeners have received a snapshot.
    func change(_ count: Int) async throws -> Sample {
      let before = snapshots.count.load(ordering: .relaxed)
      let start = ContinuousClock.now
      return try await measureAsync(count: count) {
        for index in 0..<count {
          try await commit(index % Self.listeners)
          try await Task.sleep(until: start + .milliseconds(index + 1), clock: .continuous)
        }
        // A slow listener gets several changes in one snapshot, so the number of snapshots is unknown.
        try await reach(before + 1)
        try await client.waitForPendingWrites()
      }
    }

    private func reach(_ count: Int) async throws {
      while snapshots.count.load(ordering: .relaxed) < count { try await Task.sleep(for: .milliseconds(1)) }
    }

    func end() async throws {
      watcher?.terminate()
      try await client.terminate()
      bench.remove(path)
    }
  }
#endif
