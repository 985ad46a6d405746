// SPDX-License-Identifier: Apache-2.0
import Dispatch
import FirestoreClientState
import FirestoreGRPC
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSQLite
import FirestoreSync
import Glibc

/// A client that shares its cache, as a process of its own of a test that kills and stops it.
///
///     SharingClient FOLDER PORT FIRST SEED    writes from number FIRST on, as `RandomUse` says
///
/// Standard input says, a line at a time, what comes next, and each is answered by a line with the same word:
///
///     stop         no more random use; online
///     user NAME    `-` for nobody
///     sent         answered when every pending write of the user is
///     show         from then on also `shown DOCUMENTS cache|server pending|clean`
///     role         answered with `role primary|secondary CLIENTS`
///     status       answered with what a failure is understood by
@main
struct SharingClient {
  static let database = DatabaseID(project: "shared", database: "(default)")

  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 5, let port = Int(arguments[2]), let first = Int(arguments[3]),
      let seed = UInt64(arguments[4])
    else { exit(64) }
    let datastore = GRPCDatastore(
      Endpoint(host: "127.0.0.1", port: port, security: .plaintext), database: database, credentials: .emulatorOwner)
    let store = LocalStoreConfiguration(
      location: .directory(arguments[1]), policy: .leastRecentlyUsed(thresholdBytes: 1 << 20), database: database,
      isShared: true)
    func open() -> SyncEngine {
      SyncEngine(
        SyncConfiguration(store: store), datastore: datastore, clock: ContinuousClock(), now: now,
        random: SystemRandomNumberGenerator())
    }
    var engine = open()
    // A process that was stopped while it wrote keeps others from opening the cache.
    while let problem = engine.cacheProblem, problem.notice.contains("kill -CONT") {
      await engine.terminate()
      engine = open()
    }
    if let problem = engine.cacheProblem {
      say("failed \(problem.notice)")
      exit(1)
    }
    let running = Task { [engine] in await engine.run() }
    let use = Task { [engine] in try await RandomUse(engine: engine, seed: seed).run(from: first) }
    for await line in lines() { try await answer(line, engine, use) }
    use.cancel()
    await engine.terminate()
    await running.value
  }

  private static func answer(_ line: String, _ engine: SyncEngine, _ use: Task<Void, any Error>) async throws {
    let words = line.split(separator: " ").map(String.init)
    switch words.first {
    case "stop":
      use.cancel()
      // What it was doing is over, whether or not that was cut short.
      _ = await use.result
      await engine.enableNetwork()
    case "user": await engine.changeUser(to: words.last == "-" ? nil : words.last)
    case "sent": try await engine.waitForPendingWrites()
    case "show":
      let mailbox = SnapshotMailbox()
      var options = ListenerOptions()
      options.includeMetadataChanges = true
      _ = engine.listen(to: Query(path: ResourcePath("writes")), options: options, into: mailbox)
      Task { await report(mailbox) }
    case "role":
      let sharing = await engine.sharing()
      return say("role \(sharing?.isPrimary == true ? "primary" : "secondary") \(sharing?.clients ?? 0)")
    case "status":
      let isPrimary = await engine.sharing()?.isPrimary == true
      for await status in engine.status() {
        let reason = status.reason.map { "\($0)" } ?? "-"
        let failure = status.storeFailure?.message ?? "-"
        return say(
          "status primary \(isPrimary) \(status.onlineState) \(status.watch) \(status.activeTargets) \(reason) \(failure)"
        )
      }
    default: return say("unknown \(line)")
    }
    say(words[0])
  }

  private static func report(_ mailbox: SnapshotMailbox) async {
    while let element = await mailbox.next() {
      guard case .snapshot(let snapshot) = element else { return say("shown failed") }
      let state = "\(snapshot.isFromCache ? "cache" : "server") \(snapshot.hasPendingWrites ? "pending" : "clean")"
      say("shown \(snapshot.documents.count) \(state)")
    }
  }

  private static func lines() -> AsyncStream<String> {
    AsyncStream { continuation in
      // Where waiting for them holds nobody up.
      DispatchQueue(label: "commands").async {
        while let line = readLine() { continuation.yield(line) }
        continuation.finish()
      }
    }
  }

  /// Writes a line at once, or ends the process when nobody reads it.
  static func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    if bytes.withUnsafeBytes({ write(STDOUT_FILENO, $0.baseAddress, $0.count) }) != bytes.count { exit(1) }
  }

  @Sendable private static func now() -> Timestamp {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
  }
}
