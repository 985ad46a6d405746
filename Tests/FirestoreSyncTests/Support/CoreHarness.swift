// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSync
import FirestoreTesting

/// A core on a cache in memory whose streams open as soon as it asks, with the effects of each event.
struct CoreHarness: ~Copyable {
  var core: SyncCore

  init() throws { self.init(try Self.started()) }

  private init(_ core: consuming SyncCore) { self.core = core }

  private static func started() throws -> SyncCore {
    let store = try LocalStore(LocalStoreConfiguration(location: .memory, policy: .never, database: database))
    var core = SyncCore(
      store, configuration: SyncCore.Configuration(database: database), random: CountingGenerator())
    try core.start(user: nil)
    _ = core.takeEffects()
    return core
  }

  mutating func effects(of event: (inout SyncCore) throws -> Void) rethrows -> [SyncEffect] {
    try event(&core)
    return core.takeEffects()
  }

  /// Listens and lets the backend confirm it; the backend has nothing yet.
  mutating func listen(_ id: Int, to path: String) {
    _ = effects { core in
      core.listen(ListenerID(id), to: query(path), options: .metadata)
      core.watchStreamOpened(in: core.watchStream.epoch)
      while case .add(let target)? = core.takeWatchRequest(in: core.watchStream.epoch) {
        core.receive([.added([target.id])], in: core.watchStream.epoch)
      }
    }
  }

  mutating func receive(_ changes: WatchChange...) -> [SyncEffect] {
    effects { core in core.receive(changes, in: core.watchStream.epoch) }
  }

  mutating func write(_ mutation: Mutation) throws -> (batch: BatchID, effects: [SyncEffect]) {
    var batch = BatchID(0)
    let effects = try effects { core in
      batch = try core.write([mutation], at: Timestamp(seconds: 1))
    }
    return (batch, effects)
  }

  /// Opens the write stream and takes all that is to be sent.
  mutating func send() -> [BatchID] {
    core.writeStreamOpened(token: [1], in: core.writeStream.epoch)
    var sent: [BatchID] = []
    while let (id, _) = core.takeWrite(in: core.writeStream.epoch, at: Timestamp(seconds: 0)) { sent.append(id) }
    _ = core.takeEffects()
    return sent
  }
}

extension [SyncEffect] {
  /// One list of deliveries per effect that delivers.
  var deliveries: [[SnapshotDelivery]] {
    compactMap { if case .deliver(let deliveries) = $0 { deliveries } else { nil } }
  }

  func position(where isWanted: (SyncEffect) -> Bool) -> Int? { firstIndex(where: isWanted) }
}
