// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSQLite

/// The targets that the listeners of all clients want, and the primary's announcements of their results.
extension SyncCore {
  /// Whether the listeners of another client want the backend's answer, as far as the primary knows.
  func isWantedElsewhere(_ target: TargetID) -> Bool {
    guard let role = sharing, role.isPrimary else { return false }
    return role.foreign.contains(target)
  }

  /// Announces the interest of this client's listeners in a target, if it changed.
  mutating func announceInterest(in target: TargetID) {
    guard let role = sharing else { return }
    let interest = interest(in: target)
    if role.announced[target] == interest { return }
    sharing?.announced[target] = interest
    if store.isAlone { return }
    do throws(StoreError) { try store.announce(interest, in: target) } catch { keepTrying(.announce, error) }
  }

  private func interest(in target: TargetID) -> TargetInterest? {
    let ids = views.ids(of: target)
    if ids.contains(where: { listeners.needsBackend($0) }) { return .backend }
    return ids.contains { listeners.listens(to: $0) } ? .cache : nil
  }

  // MARK: The primary

  mutating func adjustTargets() {
    guard isPrimary, sharing != nil else { return }
    do throws(StoreError) { try adoptTargets() } catch { keepTrying(.hear, error) }
  }

  /// Listens to the targets that other clients want, and no longer to those that no client wants any more.
  mutating func adoptTargets() throws(StoreError) {
    let foreign = try store.foreignTargets()
    for id in foreign.sorted() where !plan.wants(id) { try adopt(id) }
    let wanted = plan.targets.values.filter { $0.purpose != .limboResolution }.map(\.id)
    for id in wanted.sorted() where !foreign.contains(id) {
      if !views.ids(of: id).contains(where: { listeners.needsBackend($0) }) { try abandon(id) }
    }
    sharing?.foreign = foreign
    statusRevision += 1
  }

  private mutating func adopt(_ id: TargetID) throws(StoreError) {
    // A target that was collected meanwhile is announced anew by each client that listens to it.
    guard let target = try store.target(id) else { return }
    if views.ids(of: id).isEmpty {
      _ = try open(target.query, announcing: nil)
    }
    watch(try store.allocateTarget(target))
  }

  private mutating func abandon(_ id: TargetID) throws(StoreError) {
    let unheard = views.ids(of: id).filter { !listeners.listens(to: $0) }
    let others = views.ids(of: id).filter { listeners.listens(to: $0) }
    if others.isEmpty { try store.releaseTarget(id, isForeign: true) }
    for view in unheard {
      views.remove(view)
      stopLimboResolutions(limbo.removeAll(for: view))
    }
    startLimboResolutions()
    unwatch(id)
    if others.isEmpty { sharing?.told[id] = nil } else { letAge(others) }
  }

  /// Announces which results are complete, as the backend said, if that changed.
  mutating func announceResults(of ids: some Sequence<ViewID>) {
    guard let role = sharing, role.isPrimary, !store.isAlone else { return }
    var news: [TargetID: Bool] = [:]
    for id in ids {
      guard let target = views.target(of: id), let isSynced = views.read(id, \.isSynced) else { continue }
      if role.told[target] != isSynced { news[target] = isSynced }
    }
    if news.isEmpty { return }
    do throws(StoreError) {
      try store.announce(current: news)
      sharing?.told.merge(news) { $1 }
    } catch {
      keepTrying(.announce, error)
    }
  }

  // MARK: Views

  /// Makes all views agree with the store, as if they were made now.
  mutating func synchroniseViews(causes: [SnapshotCause] = []) throws(StoreError) {
    var steps: [(ViewID, View.Step, Set<DocumentKey>)] = []
    for id in views.ids {
      guard let view = views[id]?.view else { continue }
      var result = try store.execute(view.query, usingPreviousResults: true)
      var documents = result.takeMatches()
      let matching = Set(documents.lazy.map(\.key))
      let departed = view.documents.keys.filter { !matching.contains($0) }
      if !departed.isEmpty { documents += try store.views(of: departed).values }
      steps.append((id, view.step(documents), result.remoteKeys))
    }
    var snapshots: [(ViewID, TargetID, ViewSnapshot)] = []
    for (id, step, keys) in steps {
      guard let target = views.target(of: id),
        let outcome = views.update(id, { $0.synchronise(step, syncedKeys: keys, causes: causes) })
      else { continue }
      if isPrimary || store.isPrimary { track(outcome, for: id) }
      if let snapshot = outcome.snapshot { snapshots.append((id, target, snapshot)) }
    }
    deliver(snapshots)
  }
}
