// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreSync
import FirestoreTesting
import Testing

@Suite("Cache garbage collection")
struct GarbageCollectionTests {
  private func core(thresholdBytes: Int64) throws -> SyncCore {
    let store = try LocalStore(
      LocalStoreConfiguration(
        location: .memory, policy: .leastRecentlyUsed(thresholdBytes: thresholdBytes), database: database))
    var configuration = SyncCore.Configuration(database: database)
    configuration.garbageCollectionThreshold = thresholdBytes
    configuration.slicePacer = .pieces(1)
    var core = SyncCore(store, configuration: configuration, random: CountingGenerator())
    try core.start(user: nil)
    return core
  }

  @Test("Garbage collection is checked after a minute and then every five minutes")
  func schedule() throws {
    var core = try core(thresholdBytes: 1_000_000_000)
    let starting = core.takeEffects()

    core.fire(.garbageCollection)

    let effects = core.takeEffects()
    #expect(starting.garbageCollectionDelay == .seconds(60))
    #expect(effects.garbageCollectionDelay == .seconds(300))
  }

  @Test("Necessary garbage collection alternates with other work until it is done")
  func turns() throws {
    var core = try core(thresholdBytes: 0)
    _ = core.takeEffects()
    for number in 0..<20 {
      let document = doc("rooms/\(number)", at: 1)
      _ = try core.store.apply(RemoteEvent(version: at(Int64(number + 1)), documents: [document.key: document]))
    }
    var turns = 0
    var delay: Duration?

    repeat {
      core.fire(.garbageCollection)
      delay = core.takeEffects().garbageCollectionDelay
      turns += 1
      // A write between two turns is served and kept.
      _ = try core.write([set("halls/\(turns)")], at: Timestamp(seconds: 1))
    } while delay == .zero

    #expect(delay == .seconds(300))
    #expect(turns > 3)
    // A tenth of twenty.
    let kept = try (0..<20).filter { number throws in try core.store.remoteDocument(key("rooms/\(number)")) != nil }
    #expect(kept == Array(2..<20))
    let written = try (1...turns).filter { number throws in try core.store.document(key("halls/\(number)")) != nil }
    #expect(written.count == turns)
    let violations = try core.store.checkInvariants()
    #expect(violations == [])
  }
}

extension [SyncEffect] {
  fileprivate var garbageCollectionDelay: Duration? {
    for case .schedule(.garbageCollection, let delay) in self { return delay }
    return nil
  }
}
