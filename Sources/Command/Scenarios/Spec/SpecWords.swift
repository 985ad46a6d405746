// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSpec

/// The steps of a spec test in words, those of users as a scenario says them.
struct SpecWords {
  let hasSeveralClients: Bool
  private let words = StoryWords(database: specDatabase)

  init(_ test: SpecTest) { hasSeveralClients = test.hasSeveralClients }

  func text(of step: SpecStep) -> String {
    (hasSeveralClients ? "client \(step.client): " : "") + text(of: step.action)
  }

  // MARK: Actions

  private func text(of action: SpecAction) -> String {
    switch action {
    case .listen(let query, let id, let cacheOnly):
      "listen \(text(of: query))\(cacheOnly ? " from cache" : ", target \(id)")"
    case .unlisten(let query): "stop listening to \(text(of: query))"
    case .write(let mutation): words.step(mutation) ?? "write \(mutation.key.path.text)"
    case .addSnapshotsInSyncObserver: "observe that all snapshots are in sync"
    case .removeSnapshotsInSyncObserver: "observe no longer that all snapshots are in sync"
    case .waitForPendingWrites: "wait for the pending writes"
    case .loadBundle(let text): "load a bundle of \(text.utf8.count) bytes"
    case .changeUser(let user): "user \(user ?? "none")"
    case .watch(let changes, _):
      changes.isEmpty ? "the server sends nothing" : changes.map(text(of:)).joined(separator: "; ")
    case .closeWatchStream(let status, let waits):
      "the watch stream breaks, \(status.code.name)\(waits ? "" : ", and its pause is left out")"
    case .acknowledgeWrite(let version, let keeps):
      "the server takes the oldest write, version \(version.microseconds)\(keeps ? ", and its answer is lost" : "")"
    case .failWrite(let status, let keeps):
      "the server refuses the oldest write, \(status.code.name)\(keeps ? ", for now" : "")"
    case .setNetwork(let enabled): enabled ? "online" : "offline"
    case .runTimer(let name): "the timer \(name) fires"
    case .restart: "restart"
    case .collectGarbage(let threshold): "collect garbage above \(threshold) bytes"
    case .failStore(let actions):
      actions.isEmpty
        ? "the cache works again"
        : "the cache fails: \(actions.map(\.rawValue).sorted().joined(separator: ", "))"
    case .setIndexes(let indexes): "set \(indexes.count) index\(indexes.count == 1 ? "" : "es")"
    case .drain: "do what is left to do"
    case .shutDown: "shut down"
    case .clearStore: "clear the cache"
    case .setVisibility(let isVisible): isVisible ? "come to the front" : "go to the background"
    case .becomePrimary: "become the primary"
    }
  }

  private func text(of query: FirestoreQuery.Query) -> String { words.text(of: query) ?? query.canonicalID }

  private func text(of change: WatchChange) -> String {
    switch change {
    case .added(let ids): "the server takes \(targets(ids))"
    case .removed(let ids, nil): "the server ends \(targets(ids))"
    case .removed(let ids, let cause?): "the server refuses \(targets(ids)), \(cause.code.name)"
    case .current(let ids, _): "the server has told all of \(targets(ids))"
    case .reset(let ids, _): "the server begins \(targets(ids)) anew"
    case .token(let ids, _): "the server gives a resume token for \(ids.isEmpty ? "all targets" : targets(ids))"
    case .snapshot(let version, _): "the server ends a snapshot, version \(version.microseconds)"
    case .document(let document, let updated, let removed):
      "the server sends \(document.key.path.text)\(document.exists ? "" : ", which is deleted")"
        + (updated.isEmpty ? "" : ", in \(targets(updated))") + (removed.isEmpty ? "" : ", not in \(targets(removed))")
    case .documentRemoved(let key, let removed): "the server takes \(key.path.text) out of \(targets(removed))"
    case .filter(let id, let filter): "the server counts \(filter.count) in target \(id)"
    }
  }

  private func targets(_ ids: [TargetID]) -> String {
    (ids.count == 1 ? "target " : "targets ") + ids.map(\.description).joined(separator: ", ")
  }

  // MARK: Expectations

  /// The expectations after a step, a line each.
  func expectations(of step: SpecStep) -> [String] {
    let expected = step.expectations
    var lines = expected.events.map(text(of:))
    if !expected.acknowledged.isEmpty { lines.append("acknowledged \(list(expected.acknowledged))") }
    if !expected.rejected.isEmpty { lines.append("rejected \(list(expected.rejected))") }
    if let targets = expected.activeTargets {
      let all = targets.keys.sorted().map(\.description).joined(separator: ", ")
      lines.append(all.isEmpty ? "no active targets" : "active targets \(all)")
    }
    if let keys = expected.activeLimboDocuments { lines.append("in limbo: \(list(keys.sorted()))") }
    if let keys = expected.enqueuedLimboDocuments { lines.append("waiting for limbo: \(list(keys.sorted()))") }
    func number(_ number: Int?, _ text: String) { if let number { lines.append("\(text) \(number)") } }
    number(expected.outstandingWrites, "outstanding writes")
    number(expected.writeStreamRequests, "requests on the write stream")
    number(expected.watchStreamRequests, "requests on the watch stream")
    number(expected.activeClients, "active clients")
    if expected.snapshotsInSyncCalls > 0 { number(expected.snapshotsInSyncCalls, "snapshots in sync") }
    if expected.pendingWritesCalls > 0 { number(expected.pendingWritesCalls, "waits for pending writes ended") }
    if let isPrimary = expected.isPrimary { lines.append(isPrimary ? "primary" : "not primary") }
    if let isShutDown = expected.isShutDown { lines.append(isShutDown ? "shut down" : "not shut down") }
    if let indexes = expected.indexes { number(indexes.count, "indexes") }
    return lines.map { "expect \($0)" }
  }

  private func text(of event: SpecEvent) -> String {
    let query = text(of: event.query)
    if event.errorCode != 0 {
      return "failed with \(StatusCode(rawValue: event.errorCode)?.name ?? "\(event.errorCode)") on \(query)"
    }
    let changes = SpecEvent.kinds.compactMap { name, kind in
      event.changes[kind].map { "\(name) \(list($0.map(\.key)))" }
    }
    let marks = (event.isFromCache ? ["from cache"] : []) + (event.hasPendingWrites ? ["with pending writes"] : [])
    return "a snapshot of \(query): " + ((changes.isEmpty ? ["no changes"] : changes) + marks).joined(separator: ", ")
  }

  private func list(_ keys: [DocumentKey]) -> String {
    keys.isEmpty ? "none" : keys.map(\.path.text).joined(separator: " ")
  }
}
