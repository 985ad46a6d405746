// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreLocal
import FirestoreModel
import FirestoreSQLite
import Foundation
import SeededRandom
import Testing

/// A client on a cache that something has happened to: every call ends, with a result or with a reason.
@Suite(.serialized) struct DamagedCacheTests {
  private static func setting(_ name: String) -> UInt64? {
    ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
  }

  /// As many seeds as `HEARTH_DAMAGES` says, from `HEARTH_DAMAGE_SEED` on; one for each kind of damage if it says nothing.
  private static let seeds: Range<UInt64> = {
    let first = setting("HEARTH_DAMAGE_SEED") ?? 0
    return first..<first + (setting("HEARTH_DAMAGES") ?? UInt64(Damage.allCases.count))
  }()

  @Test(
    "A client with damaged cache files works or reports the reason, and soon recovers",
    .timeLimit(.minutes(10)), arguments: seeds)
  func damaged(_ seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let damage = Damage.allCases[Int(seed) % Damage.allCases.count]
    let backend = try LocalBackend(BackendConfiguration(location: .memory, now: { Timestamp(seconds: 1_700_000_000) }))
    let whole = try ClientFolder()
    try await UsedClient.fill(whole, backend)
    let folder = try ClientFolder()
    try whole.copyCache(to: folder)
    try damage.happen(toCacheIn: folder.path + "/cache", &random)

    var history: [String] = []
    var hasMetDamage = false
    for start in 1...4 {
      let client = UsedClient(folder, backend)
      let (refusal, failures) = try await client.use()
      await client.terminate()
      history.append("start \(start): \(refusal ?? "durable"); \(Set(failures))")
      let context = "\(damage), seed \(seed):\n\(history.joined(separator: "\n"))"
      #expect(failures.allSatisfy { $0.code == .dataLoss }, "\(context)")
      // Damage that is met while the cache is in use is found by the next start before it is used again.
      if hasMetDamage { #expect(failures.isEmpty && refusal?.contains("has been moved to") == true, "\(context)") }
      hasMetDamage = !failures.isEmpty
    }
    if Self.setting("HEARTH_DAMAGES") != nil { print("\(damage), seed \(seed):\n\(history.joined(separator: "\n"))") }
  }

  @Test(
    "After a bit in the WAL is flipped, the cache is still usable",
    .timeLimit(.minutes(10)), arguments: UInt64(0)..<6)
  func bitInLog(_ seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let (origin, folder) = (try ClientFolder(), try ClientFolder())
    let backend = try LocalBackend(BackendConfiguration(location: .memory, now: { Timestamp(seconds: 1_700_000_000) }))
    try await UsedClient.fill(origin, backend)
    // Closing brings everything into the database: the log then has these writes and nothing else.
    try origin.openCache().close()
    var store = try origin.openCache()
    for number in 0..<3 {
      _ = try store.write([UsedClient.set("rooms/\(number)", 9)], at: Timestamp(seconds: 1_700_000_000))
    }
    try origin.copyCache(to: folder)
    store.close()
    let log = URL(filePath: folder.cachePath + "-wal")
    var bytes = try Data(contentsOf: log)
    bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
    try bytes.write(to: log)

    var outcomes: [(refusal: String?, failures: [RPCStatus])] = []
    for _ in 0..<2 {
      let client = UsedClient(folder, backend)
      outcomes.append(try await client.use())
      await client.terminate()
    }

    #expect(outcomes.allSatisfy { $0.refusal == nil }, "\(seed)")
    for kept in DatabaseFiles(path: folder.cachePath).keptLogs {
      #expect(try Data(contentsOf: URL(filePath: kept)) == bytes)
    }
    #expect(outcomes.allSatisfy { $0.failures == [] })
  }

  @Test(
    "Damage found during use fails pending calls with data-loss, and reopening works",
    .timeLimit(.minutes(10)))
  func damageInUse() async throws {
    let folder = try ClientFolder()
    let backend = try LocalBackend(BackendConfiguration(location: .memory, now: { Timestamp(seconds: 1_700_000_000) }))
    try await UsedClient.fill(folder, backend)
    // One of the documents with a write that waits: noticed when that is acknowledged.
    try Damage.change(folder.cachePath, "UPDATE documents SET state = 99 WHERE name = '5'")

    let client = UsedClient(folder, backend)
    let outcomes = await client.waitForEverything()
    let refused = await client.refusedWrites()
    await client.terminate()
    let next = UsedClient(folder, backend)
    let (refusal, failures) = try await next.use()
    await next.terminate()

    #expect(outcomes.map { $0?.code } == [.dataLoss, .dataLoss, .dataLoss])
    #expect(refused == [], "nobody refused a write, and some were applied")
    #expect(refusal?.contains("has been moved to \(folder.cachePath).damaged-1. A new cache was created") == true)
    #expect(failures == [])
  }
}
