// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSQLite

/// The targets of all clients' listeners, and the primary client's announcements of their results.
extension SyncCore {
  /// Whether other clients' listeners need the backend's result. Always false if this client is not primary.
  func isWantedElsewhere(_ target: TargetID) -> Bool {
    sharing?.isWantedElsewhere(target) ?? false
  }

  /// Announces this client's interest in a target if its listeners' interest has changed.
  mutating func announceInterest(in target: TargetID) {
    if sharing == nil { return }
    let interest = listens.interest(in: target)
    guard sharing?.setInterest(interest, in: target) == true, !store.isAlone else { return }
    do throws(StoreError) { try store.announce(interest, in: target) } catch { keepTrying(.announce, error) }
  }

  // MARK: The primary

  mutating func adjustTargets() {
    guard isPrimary, sharing != nil else { return }
    do throws(StoreError) { try adoptTargets() } catch { keepTrying(.hear, error) }
  }

  /// Listens to the targets of other clients, and stops listening to targets that no client needs.
  mutating func adoptTargets() throws(StoreError) {
    let foreign = try store.foreignTargets()
    for id in foreign.sorted() where !watching.plan.wants(id) { try adopt(id) }
    let wanted = watching.plan.targets.values.filter { $0.purpose != .limboResolution }.map(\.id)
    for id in wanted.sorted() where !foreign.contains(id) {
      if !listens.needsBackend(id) { try abandon(id) }
    }
    sharing?.adopted(foreign)
    output.statusChanged()
  }

  private mutating func adopt(_ id: TargetID) throws(StoreError) {
    // Each client with a listener announces a target again if it was collected meanwhile.
    guard let target = try store.target(id) else { return }
    if listens.views.ids(of: id).isEmpty {
      _ = try open(target.query, announcing: nil)
    }
    watch(try store.allocateTarget(target))
  }

  private mutating func abandon(_ id: TargetID) throws(StoreError) {
    let unheard = listens.views.ids(of: id).filter { !listens.listeners.listens(to: $0) }
    let others = listens.views.ids(of: id).filter { listens.listeners.listens(to: $0) }
    if others.isEmpty { try store.releaseTarget(id, isForeign: true) }
    for view in unheard {
      stopLimboResolutions(listens.close(view).lookups)
    }
    startLimboResolutions()
    unwatch(id)
    if others.isEmpty { sharing?.forgetResult(of: id) } else { letAge(others) }
  }

  /// Announces which results are complete according to the backend, and which results are no longer complete.
  mutating func announceResults(of ids: some Sequence<ViewID>) {
    guard let role = sharing, role.isPrimary, !store.isAlone else { return }
    var news: [TargetID: Bool] = [:]
    for id in ids {
      guard let target = listens.views.target(of: id), let isSynced = listens.views.read(id, \.isSynced) else {
        continue
      }
      if role.isNews(isSynced, of: target) { news[target] = isSynced }
    }
    if news.isEmpty { return }
    do throws(StoreError) {
      try store.announce(current: news)
      sharing?.tell(news)
    } catch {
      keepTrying(.announce, error)
    }
  }

  // MARK: Views

  /// Updates all views with the data in the store, as if the views had just been opened.
  mutating func synchroniseViews(causes: [SnapshotCause] = []) throws(StoreError) {
    var steps: [(ViewID, View.Step, Set<DocumentKey>)] = []
    for id in listens.views.ids {
      guard let view = listens.views[id]?.view else { continue }
      var result = try store.execute(view.query, usingPreviousResults: true)
      var documents = result.takeMatches()
      let matching = Set(documents.lazy.map(\.key))
      let departed = view.documents.keys.filter { !matching.contains($0) }
      if !departed.isEmpty { documents += try store.views(of: departed).values }
      steps.append((id, view.step(documents), result.remoteKeys))
    }
    var emission = Emission()
    for (id, step, keys) in steps {
      guard let target = listens.views.target(of: id),
        let outcome = listens.update(id, { $0.synchronise(step, syncedKeys: keys, causes: causes) })
      else { continue }
      if isPrimary || store.isPrimary { track(outcome, for: id) }
      if let snapshot = outcome.snapshot { show(snapshot, of: id, target, &emission) }
    }
    deliver(emission)
  }
}
