// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreJSON
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSync
import Testing

/// The real client core with one listener, and the backend's side of its watch stream.
struct WatchedQuery: ~Copyable {
  /// Each state that the backend has called complete, with all changes since the one before.
  private(set) var consistentSnapshots: [ViewSnapshot] = []
  /// What has been shown since then.
  private var interim: ViewSnapshot?

  private var core: SyncCore
  private var epoch = StreamEpoch()
  /// Of the listener's query; the files call it 1.
  private var target: TargetID?
  /// Of the snapshot that is being sent.
  private var readTime: SnapshotVersion?

  init(_ query: Query) throws {
    self.init(try Self.startedCore())
    core.listen(ListenerID(0), to: query, options: ListenerOptions())
    perform(core.takeEffects())
  }

  private init(_ core: consuming SyncCore) { self.core = core }

  private static func startedCore() throws -> SyncCore {
    // A server library keeps nothing of what the backend has taken back, and so does a cache that collects eagerly.
    let store = try LocalStore(LocalStoreConfiguration(location: .memory, policy: .eager, database: specDatabase))
    var core = SyncCore(
      store, configuration: SyncCore.Configuration(database: specDatabase), random: SystemRandomNumberGenerator())
    try core.start(user: nil)
    return core
  }

  /// Takes messages of the type `google.firestore.v1.ListenResponse`.
  mutating func receive(_ responses: [JSONSyntax]) throws {
    for (index, response) in responses.enumerated() {
      let readTimes = responses[index...].lazy.compactMap { $0["targetChange"]?["readTime"] }
      readTime = try readTimes.first.map { try SnapshotVersion(spec: $0) } ?? readTime
      receive(try change(response))
    }
  }

  private mutating func receive(_ change: WatchChange) {
    core.receive([change], in: epoch)
    perform(core.takeEffects())
  }

  private mutating func perform(_ effects: [SyncEffect]) {
    var isWoken = false
    for effect in effects {
      switch effect {
      case .deliver(let deliveries): for delivery in deliveries { show(delivery.snapshot) }
      case .open(.watch, let epoch, after: _):
        self.epoch = epoch
        core.watchStreamOpened(in: epoch)
        perform(core.takeEffects())
      case .wake(.watch): isWoken = true
      default: break
      }
    }
    if isWoken { answerRequests() }
  }

  private mutating func show(_ snapshot: ViewSnapshot) {
    let sum = interim?.merged(with: snapshot) ?? snapshot
    interim = sum
    guard !snapshot.isFromCache else { return }
    consistentSnapshots.append(sum)
    interim = nil
  }

  /// Confirms targets. Documents that the client looks up by itself do not exist: the backend did not list them.
  private mutating func answerRequests() {
    while let request = core.takeWatchRequest(in: epoch) {
      switch request {
      case .add(let added):
        receive(.added([added.id]))
        if added.purpose == .limboResolution, let readTime {
          receive(.current([added.id], nil))
          receive(.snapshot(readTime, nil))
        } else {
          target = added.id
        }
      case .remove(let id): receive(.removed([id], cause: nil))
      }
    }
  }

  private func change(_ response: JSONSyntax) throws -> WatchChange {
    let target = try #require(target)
    let member = try #require(response.members?.first)
    let message = member.value
    switch member.name {
    case "documentChange":
      return .document(
        try Document(spec: try #require(message["document"])),
        updated: message.list("targetIds").map { _ in target },
        removed: message.list("removedTargetIds").map { _ in target })
    case "documentDelete":
      // The files leave out the target and the read time, which the backend says.
      let key = try DocumentKey(specName: message["document"])
      return .document(Document(key: key, version: readTime, state: .missing), updated: [], removed: [target])
    case "documentRemove":
      return .documentRemoved(try DocumentKey(specName: message["document"]), removed: [target])
    case "filter": return .filter(target, ExistenceFilter(count: Int(try #require(message["count"]?.integer))))
    case "targetChange":
      switch message["targetChangeType"]?.string {
      case nil: return .snapshot(try SnapshotVersion(spec: message["readTime"]), nil)
      case "CURRENT": return .current([], nil)
      case "RESET": return .reset([], nil)
      default: throw response.error("a change of target")
      }
    default: throw response.error("a response \(member.name)")
    }
  }
}
