// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreLocal
import FirestoreModel
import FirestoreSQLite
import FirestoreSync
import Glibc

/// A client with a backend of its own, as the process of a test that kills it or takes its disk away.
///
///     CrashClient FOLDER endless FIRST SEED    see `EndlessRun`
///     CrashClient FOLDER drain                 sends what is pending and ends
///     CrashClient FOLDER commanded             see `CommandedRun`; its backend is in memory
///     CrashClient FOLDER normal|full|cache FIRST COMMITS KILLED    see `StorageRun`
@main
struct CrashClient {
  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count > 2 else { exit(64) }
    let folder = arguments[1]
    switch (arguments[2], arguments.dropFirst(3).compactMap { UInt64($0) }) {
    case ("endless", let numbers) where numbers.count == 2:
      var run = EndlessRun(
        client: try RunningClient(folder, backend: .directory(folder + "/backend")), seed: numbers[1])
      try await run.run(from: Int(numbers[0]))
    case ("drain", _):
      let client = try RunningClient(folder, backend: .directory(folder + "/backend"))
      try await client.engine.waitForPendingWrites()
      await client.terminate()
    case ("commanded", _):
      let client = try RunningClient(folder, backend: .memory)
      await CommandedRun(client: client).run()
      await client.terminate()
    case (let store, let numbers) where numbers.count == 3:
      let run = StorageRun(
        folder: folder, first: Int(numbers[0]), commits: Int(numbers[1]), isKilled: numbers[2] == 1)
      do {
        if store == "cache" { try run.runCache() } else { try await run.runBackend(store == "full" ? .full : .normal) }
      } catch let error as StoreError {
        print(error.message)
        exit(1)
      }
    default: exit(64)
    }
  }

  /// Writes a line at once, or ends the process when nobody reads it.
  static func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    if bytes.withUnsafeBytes({ write(STDOUT_FILENO, $0.baseAddress, $0.count) }) != bytes.count { exit(1) }
  }
}

/// An engine at work on the cache of a folder.
struct RunningClient: Sendable {
  static let database = DatabaseID(project: "crash", database: "(default)")

  let backend: LocalBackend
  let engine: SyncEngine
  private let running: Task<Void, Never>

  init(_ folder: String, backend location: BackendConfiguration.Location) throws {
    backend = try LocalBackend(BackendConfiguration(location: location, now: Self.now))
    let store = LocalStoreConfiguration(
      location: .directory(folder + "/cache"), policy: .leastRecentlyUsed(thresholdBytes: 1 << 20),
      database: Self.database)
    let engine = SyncEngine(
      SyncConfiguration(store: store), datastore: InProcessDatastore(backend: backend, database: Self.database),
      clock: ContinuousClock(), now: Self.now, random: SystemRandomNumberGenerator())
    self.engine = engine
    running = Task { await engine.run() }
  }

  func terminate() async {
    await engine.terminate()
    await running.value
  }

  @Sendable static func now() -> Timestamp {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
  }
}

func key(_ path: String) -> DocumentKey { DocumentKey(unchecked: ResourcePath(path)) }
