// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
import FirestoreModel
import FirestoreQuery
import FirestoreRemote

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
    try require(snapshot.query == listener.query, "\(name) got a snapshot of another query")
    for cause in snapshot.causes {
      switch cause {
      case .acknowledged(let id), .rejected(let id, _), .cancelled(let id):
        try require(!pending.contains(id), "S3: \(name) saw the end of batch \(id) before it was signalled")
      case .localWrite, .listenerAdded, .server, .networkDisabled, .offline, .limboResolved, .existenceFilter,
        .userChanged, .bundleLoaded, .cacheRecovered:
        break
      }
    }
    try accumulate(snapshot, in: &listener, name)
    listener.last = snapshot
    listeners[delivery.listener] = listener
  }

  /// The listeners' changes add up to their documents.
  private func accumulate(_ snapshot: ViewSnapshot, in listener: inout Listener, _ name: String) throws {
    if let last = listener.last {
      try require(
        !snapshot.changes.isEmpty || listener.options.includeMetadataChanges, "\(name) got a snapshot of nothing")
      if listener.options.includeMetadataChanges {
        try require(snapshot.oldDocuments == last.documents, "\(name) was told other old documents than it had")
      }
    } else {
      try require(snapshot.changes.allSatisfy { $0.kind == .added }, "\(name)'s first snapshot has other changes")
      try require(snapshot.oldDocuments.isEmpty, "\(name)'s first snapshot has old documents")
    }
    for change in snapshot.changes {
      let key = change.document.key
      let had = listener.accumulated[key] != nil
      try require(had == (change.kind != .added), "\(name) was told \(change.kind) of \(key)")
      if change.kind == .metadata {
        try require(listener.accumulated[key]?.data == change.document.data, "\(name) got data as metadata of \(key)")
      }
      listener.accumulated[key] = change.kind == .removed ? nil : change.document
    }
    let shown = snapshot.documents.documents
    try require(
      Set(shown.map(\.key)) == Set(listener.accumulated.keys),
      "\(name)'s changes give \(listener.accumulated.keys.sorted()), not \(shown.map(\.key))")
    for document in shown {
      let own = listener.accumulated[document.key]
      try require(own?.data == document.data, "\(name)'s changes give other data of \(document.key)")
      if listener.options.includeMetadataChanges {
        try require(
          own?.hasPendingWrites == document.hasPendingWrites || !snapshot.mutatedKeys.contains(document.key),
          "\(name)'s changes give other metadata of \(document.key)")
      }
    }
    if let limit = listener.query.limit { try require(shown.count <= limit, "\(name) got more than its limit") }
    try require(listener.query.orderBy.sorted(shown) == shown, "\(name)'s documents are out of order")
  }

  // MARK: After a step

  func check(isThorough: Bool) throws {
    let isOffline = core!.online.state == .offline
    let views = core!.views
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
    let log = core!.log
    let (count, first) = (log.count, log.first)
    try require(count == pending.count && first == pending.first, "the log and the books differ")
    guard isThorough else { return }
    let kept = try core!.store.rejectedWrites().map(\.id)
    try require(kept == rejected, "\(kept) are kept as rejected instead of \(rejected)")
    try checkViews()
    try checkVersions()
  }

  /// Every view shows what the store has (S1), however the store looks for it.
  private func checkViews() throws {
    // A view that could not be refilled is short until the store works.
    let (retries, views) = (core!.retries, core!.views)
    guard retries.isEmpty else { return }
    for id in views.ids {
      guard let view = views[id]?.view else { continue }
      let query = view.query
      let found = try core!.store.execute(query, usingPreviousResults: false).documents
      let quick = try core!.store.execute(query, usingPreviousResults: true).documents
      let expected = ModelQueries.select(query, from: found.values)
      let quickly = ModelQueries.select(query, from: quick.values)
      let name = "client \(index), \(ModelQueries.all.firstIndex(of: query) ?? -1)"
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
