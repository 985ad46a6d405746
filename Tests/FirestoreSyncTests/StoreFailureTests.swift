// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSync
import FirestoreTesting
import Testing

/// A store that fails and works again.
@Suite struct StoreFailureTests {
  /// A core that has not been started, on a store in which a write of Ada's waits.
  private static func core() throws -> SyncCore {
    var store = try LocalStore(LocalStoreConfiguration(location: .memory, policy: .never, database: database))
    _ = try store.changeUser(to: "ada")
    _ = try store.write([set("rooms/hers")], at: Timestamp(seconds: 1))
    _ = try store.changeUser(to: nil)
    return SyncCore(store, configuration: SyncCore.Configuration(database: database), random: CountingGenerator())
  }

  @Test(
    "If the write queue cannot be opened, opening is retried and writes are rejected")
  func retriedStart() throws {
    var core = try Self.core()
    core.store.faults = [.start]

    core.startOrRetry(user: "ada")
    core.listen(ListenerID(1), to: query("rooms"), options: .metadata)

    var effects = core.takeEffects()
    #expect(effects.retryPauses == [.zero])
    #expect(effects.deliveries.joined().map(\.snapshot.documents.count) == [0])
    var refusal: StatusCode?
    do { _ = try core.write([set("rooms/b")], at: Timestamp(seconds: 2)) } catch { refusal = error.code }
    #expect(refusal == .unavailable)
    core.fire(.storeRetry)
    effects = core.takeEffects()
    #expect(effects.retryPauses.count == 1)
    #expect(effects.deliveries.isEmpty && !core.writeStream.isStarted)

    core.store.faults = []
    core.fire(.storeRetry)
    effects = core.takeEffects()
    #expect(effects.retryPauses.isEmpty)
    #expect(effects.deliveries.joined().flatMap { $0.snapshot.documents.documents.map(\.key) } == [key("rooms/hers")])
    #expect(core.writeStream.isStarted && core.watchStream.isStarted)
    let batch = try core.write([set("rooms/b")], at: Timestamp(seconds: 2))
    #expect(try core.store.pendingBatches().map(\.id).last == batch)
  }

  @Test("A store that cannot be written is retried with growing delays until it recovers")
  func growingPauses() throws {
    var harness = try CoreHarness()
    harness.listen(1, to: "rooms")
    harness.core.store.faults = [.applyRemoteEvent]
    var pauses: [Duration] = []

    for version in 1...6 {
      pauses += harness.deliver(version: Int64(version)).retryPauses
      _ = harness.effects { core in core.fire(.storeRetry) }
    }

    #expect(pauses.count == 6)
    #expect(pauses[0] == .zero)
    #expect(zip(1..., pauses.dropFirst()).allSatisfy { $1 >= .seconds(1) * pow(1.5, $0 - 1) * 0.5 }, "\(pauses)")
    harness.core.store.faults = []
    #expect(harness.deliver(version: 7).retryPauses.isEmpty)
    harness.core.store.faults = [.applyRemoteEvent]
    #expect(harness.deliver(version: 8).retryPauses == [.zero])
  }

  @Test("After a full disk, free space is detected within 15 seconds")
  func longPauses() throws {
    var harness = try CoreHarness()
    harness.listen(1, to: "rooms")
    harness.core.store.faults = [.applyRemoteEvent]
    var pauses: [Duration] = []

    for version in 1...40 {
      pauses += harness.deliver(version: Int64(version)).retryPauses
      _ = harness.effects { core in core.fire(.storeRetry) }
    }

    #expect(pauses.count == 40)
    #expect(pauses.allSatisfy { $0 <= .seconds(15) })
  }

  private func pow(_ base: Double, _ exponent: Int) -> Double {
    (0..<exponent).reduce(1) { result, _ in result * base }
  }
}

extension CoreHarness {
  /// Opens the watch stream if it is to be opened, and sends a snapshot on it.
  fileprivate mutating func deliver(version: Int64) -> [SyncEffect] {
    effects { core in
      let epoch = core.watchStream.epoch
      core.watchStreamOpened(in: epoch)
      while case .add(let target)? = core.takeWatchRequest(in: epoch) {
        core.receive([.added([target.id])], in: epoch)
      }
      core.receive([.document(doc("rooms/a", at: version), updated: [TargetID(2)], removed: [])], in: epoch)
      core.receive([.snapshot(at(version), nil)], in: epoch)
    }
  }
}

extension [SyncEffect] {
  fileprivate var retryPauses: [Duration] {
    compactMap { if case .schedule(.storeRetry, let pause) = $0 { pause } else { nil } }
  }
}
