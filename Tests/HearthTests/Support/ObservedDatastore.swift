// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreTesting
import Hearth
import Synchronization

/// The embedded backend behind a record of what it was asked, which refuses listens on one collection.
final class ObservedDatastore: DatastoreWrapper {
  let base: any Datastore
  private let refusedCollection: String?
  private let listenedPaths = Mutex<[String]>([])

  init(refusing collection: String? = nil, database: DatabaseID = DatabaseID(project: "hearth")) {
    base = Backend.inMemory.connect(to: database)
    refusedCollection = collection
  }

  /// The paths of all targets the backend was asked to watch.
  var listened: [String] { listenedPaths.withLock { $0 } }

  func watch(
    requests: StreamRequests<WatchRequest>, deliver: @Sendable (WatchEvent) async -> Void
  ) async throws(RPCStatus) {
    let refused = RefusedTargets()
    try await base.watch(
      requests: StreamRequests { [self] in
        let iterator = requests.makeAsyncIterator()
        guard let request = await iterator.next() else { return nil }
        if case .add(let target) = request {
          let path = target.target.path.text
          listenedPaths.withLock { $0.append(path) }
          if path == refusedCollection { refused.insert(target.id) }
        }
        return request
      },
      deliver: { event in
        guard case .changes(let changes) = event else { return await deliver(event) }
        await deliver(
          .changes(
            changes.map { change in
              guard case .added(let ids) = change, let id = ids.first(where: refused.remove) else { return change }
              return .removed([id], cause: RPCStatus(.permissionDenied, "Missing or insufficient permissions."))
            }))
      })
  }
}

private final class RefusedTargets: Sendable {
  private let ids = Mutex<Set<TargetID>>([])
  func insert(_ id: TargetID) { ids.withLock { _ = $0.insert(id) } }
  func remove(_ id: TargetID) -> Bool { ids.withLock { $0.remove(id) != nil } }
}
