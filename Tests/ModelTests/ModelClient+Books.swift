// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery

@testable import FirestoreSync

extension ModelClient {
  // MARK: What the effects say

  /// Every accepted write ends once, in order, and as the backend decided (S3, S4).
  func complete(_ id: BatchID, _ result: Result<CommitResponse, RPCStatus>) throws {
    guard let position = pending.firstIndex(of: id) else {
      throw Violation(description: "batch \(id) completed but is not pending: \(pending)")
    }
    pending.remove(at: position)
    if cancelling == id {
      guard case .failure(let status) = result, status.code == .cancelled else {
        throw Violation(description: "a cancelled batch ended as \(result)")
      }
      return
    }
    try require(position == 0, "S4: batch \(id) completed before \(pending[0])")
    switch result {
    case .success(let response):
      guard let version = committed[id] else {
        throw Violation(description: "batch \(id) was acknowledged but never committed")
      }
      try require(version == response.commitTime, "batch \(id) was committed at \(version), not \(response.commitTime)")
      acknowledged = (id, response)
    case .failure(let status):
      try require(status.code.isPermanentForWrites, "batch \(id) was rejected for \(status)")
      try require(committed[id] == nil, "batch \(id) was rejected although it was committed")
      rejected.append(id)
    }
  }

  func note(_ delivery: SnapshotDelivery) throws {
    guard var listener = listeners[delivery.listener] else {
      throw Violation(description: "a snapshot came for \(delivery.listener), which is over")
    }
    let snapshot = delivery.snapshot
    let name = "listener \(delivery.listener.rawValue) of client \(index)"
    for cause in snapshot.causes {
      switch cause {
      case .acknowledged(let id), .rejected(let id, _), .cancelled(let id):
        try require(!pending.contains(id), "S3: \(name) saw the end of batch \(id) before it was signalled")
      default: break
      }
    }
    try listener.note(snapshot, name)
    listeners[delivery.listener] = listener
  }

  // MARK: After a step

  func check(isThorough: Bool) throws {
    let isOffline = core!.network.onlineState == .offline
    let views = core!.listens.views
    for (id, listener) in listeners {
      guard let view = views.id(of: listener.query), let entry = views[view] else {
        throw Violation(description: "listener \(id.rawValue) of client \(index) has no view")
      }
      if isOffline {
        try require(!entry.view.isSynced, "S7: offline, but the view of \(listener.query) is not from cache")
      }
      guard let last = listener.last, listener.options.includeMetadataChanges else { continue }
      let name = "listener \(id.rawValue) of client \(index)"
      try require(last.isFromCache == !entry.view.isSynced, "S7: \(name) was not told that its source changed")
      try require(last.mutatedKeys == entry.view.mutatedKeys, "\(name) was not told of changed pending writes")
      if isThorough {
        try require(last.documents == entry.view.documents, "\(name) shows other documents than its view")
      }
    }
    let log = core!.writes.queue
    let (count, first) = (log.count, log.first)
    try require(count == pending.count && first == pending.first, "the log and the books differ")
    guard isThorough else { return }
    let kept = try core!.store.rejectedWrites().map(\.id)
    try require(kept == rejected, "\(kept) are kept as rejected instead of \(rejected)")
    try checkViews(checkDocuments())
    try checkVersions()
  }

  /// Every view shows what the store has (S1), however the store looks for it.
  /// - Parameter documents: what the model says that the cache shows.
  private func checkViews(_ documents: [Document]) throws {
    // A view that could not be refilled is short until the store works.
    let (retries, views) = (core!.health.waiting, core!.listens.views)
    guard retries.isEmpty else { return }
    for id in views.ids {
      guard let view = views[id]?.view else { continue }
      let query = view.query
      let found = try core!.store.execute(query, usingPreviousResults: false).documents
      let quick = try core!.store.execute(query, usingPreviousResults: true).documents
      let expected = ModelQueries.select(query, from: documents)
      let scanned = ModelQueries.select(query, from: found.values)
      let quickly = ModelQueries.select(query, from: quick.values)
      let name = "client \(index), \(ModelQueries.all.firstIndex(of: query) ?? -1)"
      try require(
        scanned == expected, "\(name): the store answers \(scanned), not \(expected) (\(query))")
      try require(
        quickly == expected,
        "\(name): starting from the previous result gives \(quickly), not \(expected) (\(query))")
      // A pure acknowledgement is not shown until the backend's version follows.
      let isHeldBack = view.documents.contains { document in
        document.hasLocalMutations && found[document.key]?.hasCommittedMutations == true
      }
      if isHeldBack { continue }
      let shown = view.documents.documents
      try require(
        shown.map(\.key) == expected.map(\.key),
        "S1: \(name) shows \(shown.map(\.key)), the store has \(expected.map(\.key)) (\(query))")
      for (left, right) in zip(shown, expected) {
        try require(left.data == right.data, "S1: \(name) shows \(left), the store has \(right)")
        if !right.hasCommittedMutations {
          try require(
            view.mutatedKeys.contains(right.key) == right.hasLocalMutations,
            "\(name): the pending flag of \(right.key) is wrong")
        }
      }
    }
  }

  /// Versions never go back (S6).
  private func checkVersions() throws {
    let faults = core!.store.faults
    core!.store.faults = []
    defer { core!.store.faults = faults }
    let version = try core!.store.lastRemoteSnapshotVersion()
    if let last = lastSnapshotVersion {
      try require(
        version.map { $0 >= last } ?? false, "S6: the snapshot version went from \(last) to \(version as Any)")
    }
    lastSnapshotVersion = version
    for key in ModelQueries.keys {
      let version = try core!.store.remoteDocument(key)?.version
      if let version, let last = versions[key] {
        try require(version >= last, "S6: \(key) went from \(last) to \(version)")
      }
      versions[key] = version
    }
  }

  func checkStore() throws {
    let violations = try core!.store.checkInvariants()
    try require(violations.isEmpty, "client \(index): \(violations.joined(separator: "; "))")
    let stored = try core!.store.pendingBatches().map(\.id)
    try require(stored == pending, "S10: client \(index) stores \(stored) instead of \(pending)")
  }
}
