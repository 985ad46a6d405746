// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSync
import SeededRandom

/// A sync core with its store. It performs the effects of its transitions. The benchmark acts as the backend.
struct BenchClient: ~Copyable {
  private static let database = DatabaseID(project: "bench")

  private(set) var core: SyncCore
  private(set) var effects: [SyncEffect] = []
  private var listenerCount = 0
  private var clock: Int64 = 1_800_000_000

  /// - Parameters:
  ///   - path: the path of the cache; `nil` for a cache in memory.
  ///   - isOnline: whether listen and write requests are sent on the streams. If not, only the cache answers.
  init(_ path: String?, isOnline: Bool = false) throws {
    try self.init(LocalStore(Workbench.configuration(path)), isOnline: isOnline)
  }

  init(_ store: consuming LocalStore, isOnline: Bool = false) throws {
    var configuration = SyncCore.Configuration(database: Self.database)
    configuration.isNetworkEnabled = isOnline
    core = SyncCore(store, configuration: configuration, random: SeededGenerator(seed: 3))
    try core.start(user: nil)
    effects = core.takeEffects()
  }

  consuming func close() { core.close() }

  mutating func forgetEffects() {
    _ = core.takeEffects()
    effects.removeAll(keepingCapacity: true)
  }

  /// - Returns: the listener, and the document count of its first snapshot; `nil` if there was no snapshot.
  mutating func listen(_ query: Query, includeMetadata: Bool = true) -> (listener: ListenerID, shown: Int?) {
    listenerCount += 1
    let id = ListenerID(listenerCount)
    var options = ListenerOptions()
    options.includeMetadataChanges = includeMetadata
    core.listen(id, to: query, options: options)
    effects = core.takeEffects()
    for case .deliver(let deliveries) in effects {
      guard let delivery = deliveries.first(where: { $0.listener == id }) else { continue }
      return (id, delivery.snapshot.documents.count)
    }
    return (id, nil)
  }

  mutating func stop(_ listener: ListenerID) {
    core.stopListening(listener)
    forgetEffects()
  }

  /// The number of snapshots that the last transitions delivered.
  mutating func delivered() -> Int {
    effects += core.takeEffects()
    return effects.reduce(0) { count, effect in if case .deliver(let all) = effect { count + all.count } else { count }
    }
  }

  @discardableResult
  mutating func write(_ mutations: [Mutation]) throws -> BatchID {
    clock += 1
    return try core.write(mutations, at: Timestamp(seconds: clock))
  }

  // MARK: The backend's part

  /// Opens the watch stream, and confirms the target of the last listener.
  mutating func openWatchStream() -> (epoch: StreamEpoch, target: TargetID)? {
    let epoch = core.watchStream.epoch
    core.watchStreamOpened(in: epoch)
    guard case .add(let target)? = core.takeWatchRequest(in: epoch) else { return nil }
    core.receive([.added([target.id])], in: epoch)
    return (epoch, target.id)
  }

  mutating func receive(_ change: WatchChange, in epoch: StreamEpoch) { core.receive([change], in: epoch) }

  mutating func openWriteStream() -> StreamEpoch {
    let epoch = core.writeStream.epoch
    core.writeStreamOpened(token: [1], in: epoch)
    return epoch
  }

  mutating func takeWrite(in epoch: StreamEpoch) -> WriteRequest? {
    core.takeWrite(in: epoch, at: Timestamp(seconds: clock))?.request
  }

  /// Acknowledges the oldest pending write, as the backend would.
  mutating func acknowledge(_ request: WriteRequest, in epoch: StreamEpoch) {
    clock += 1
    let version = SnapshotVersion(microseconds: clock * 1_000_000)
    let results = request.mutations.map { _ in MutationResult(version: version) }
    core.receive(
      CommitResponse(commitTime: version, results: results), token: [2], in: epoch, at: Timestamp(seconds: clock))
  }
}
