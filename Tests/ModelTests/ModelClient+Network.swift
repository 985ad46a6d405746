// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery

@testable import FirestoreSync

/// The two streams, one message at a time. Every function returns whether it did anything.
extension ModelClient {
  @discardableResult
  func open(_ kind: StreamKind, _ backend: isolated LocalBackend) throws -> Bool {
    guard let epoch = opening.removeValue(forKey: kind) else { return false }
    switch kind {
    case .watch:
      session = backend.openWatch(in: server.database).session
      try transition { core in core.watchStreamOpened(in: epoch) }
    case .write:
      isWriteStreamOpen = true
      try transition { core in core.writeStreamOpened(token: [1], in: epoch) }
    }
    return true
  }

  func breakStream(_ kind: StreamKind, _ code: StatusCode) throws {
    let isStarted = opening[kind] != nil || (kind == .watch ? session != nil : isWriteStreamOpen)
    guard isStarted else { return }
    let epoch = kind == .watch ? core!.watching.stream.epoch : core!.writes.stream.epoch
    opening[kind] = nil
    if kind == .watch { loseWatchStream(epoch) } else { loseWriteStream() }
    try transition { core in
      core.streamEnded(kind, RPCStatus(code, "The stream broke."), in: epoch, at: Timestamp(seconds: 0))
    }
  }

  @discardableResult
  func send(_ kind: StreamKind, _ backend: isolated LocalBackend) throws -> Bool {
    switch kind {
    case .watch:
      guard let session, let request = core!.takeWatchRequest(in: core!.watching.stream.epoch) else { return false }
      if case .remove(let id) = request, refusedTargets.remove(id) != nil { return true }
      if case .add(let target) = request { refusedTargets.remove(target.id) }
      do throws(RPCStatus) { try backend.request(request, on: session) } catch {
        throw Violation(description: "client \(index) asked \(request): \(error)")
      }
    case .write:
      guard isWriteStreamOpen, let taken = core!.takeWrite(in: core!.writes.stream.epoch, at: Timestamp(seconds: 0))
      else { return false }
      let sent = answers.count + wire.count
      let expected = sent < pending.count ? pending[sent] : nil
      if !isWriteStreamBroken {
        try require(taken.id == expected, "S4: batch \(taken.id) left instead of \(expected as Any)")
      }
      wire.append(taken)
    }
    return true
  }

  @discardableResult
  func serve(_ backend: isolated LocalBackend) throws -> Bool {
    guard !isWriteStreamBroken, !wire.isEmpty else { return false }
    let (id, request) = wire.removeFirst()
    if committed[id] == nil, let code = nextRejection {
      nextRejection = nil
      refuse(RPCStatus(code, "The write was refused."))
      return true
    }
    do {
      let response = try server.commit(request.mutations, request: request.requestID, on: backend)
      if let earlier = committed[id] {
        try require(earlier == response.commitTime, "batch \(id) of client \(index) was committed twice")
      }
      committed[id] = response.commitTime
      answers.append(.committed(response))
    } catch let status as RPCStatus {
      try require(status.code.isPermanentForWrites, "the backend refused a write for \(status)")
      refuse(status)
    }
    return true
  }

  private func refuse(_ status: RPCStatus) {
    answers.append(.refused(status))
    isWriteStreamBroken = true
  }

  @discardableResult
  func deliver(_ kind: StreamKind, _ backend: isolated LocalBackend) throws -> Bool {
    switch kind {
    case .watch:
      guard let session else { return false }
      if watchInbox.isEmpty { try fetch(session, backend) }
      guard !watchInbox.isEmpty else { return false }
      let change = watchInbox.removeFirst()
      try transition { core in core.receive([change], in: core.watchStream.epoch) }
    case .write:
      guard !answers.isEmpty else { return false }
      let epoch = core!.writes.stream.epoch
      switch answers.removeFirst() {
      case .committed(let response):
        try answering { core in core.receive(response, token: [1], in: epoch, at: Timestamp(seconds: 0)) }
      case .refused(let status):
        loseWriteStream()
        try transition { core in core.streamEnded(.write, status, in: epoch, at: Timestamp(seconds: 0)) }
      }
    }
    return true
  }

  private func fetch(_ session: WatchSessionID, _ backend: isolated LocalBackend) throws {
    do throws(RPCStatus) { watchInbox += try backend.take(from: session).changes } catch {
      throw Violation(description: "the backend ended a watch stream: \(error)")
    }
  }

  func deliverStale() throws {
    guard !stale.isEmpty else { return }
    let (epoch, change) = stale.removeFirst()
    let revision = core!.output.statusRevision
    core!.receive([change], in: epoch)
    let effects = core!.takeEffects()
    let newRevision = core!.output.statusRevision
    try require(effects.isEmpty && newRevision == revision, "S8: a message of \(epoch) had effects")
  }

  /// The backend ends a target. Look-ups are only refused when there is nothing to read, since the same rules hold for
  /// all queries of a client.
  func refuseTarget(at position: Int, _ backend: isolated LocalBackend) throws {
    guard let session else { return }
    let ids = core!.watching.plan.targets.keys.sorted()
    guard !ids.isEmpty else { return }
    let id = ids[position % ids.count]
    guard core!.watching.plan.watched(id) != nil, !refusedTargets.contains(id) else { return }
    if let key = core!.listens.limbo.key(of: id) {
      guard try !backend.lookup([key], in: server.database).documents[0].exists else { return }
    }
    try fetch(session, backend)
    do throws(RPCStatus) { try backend.request(.remove(id), on: session) } catch {
      throw Violation(description: "ending target \(id): \(error)")
    }
    try fetch(session, backend)
    guard
      let acknowledgement = watchInbox.lastIndex(where: {
        if case .removed([id], cause: nil) = $0 { true } else { false }
      })
    else { throw Violation(description: "the removal of target \(id) was not acknowledged") }
    watchInbox[acknowledgement] = .removed([id], cause: RPCStatus(.permissionDenied, "Not any more."))
    refusedTargets.insert(id)
  }

  // MARK: Timers

  @discardableResult
  func fire(_ timer: SyncTimer) throws -> Bool {
    guard timers.remove(timer) != nil else { return false }
    try answering { core in core.fire(timer) }
    return true
  }

  func retryNow() throws { try answering { core in core.retryNow() } }

  // MARK: Rest

  /// Does one round of what there is to do, without faults.
  func settle(_ backend: isolated LocalBackend) throws -> Bool {
    core!.store.faults = []
    nextRejection = nil
    var didSomething = false
    if core?.isNetworkEnabled == false {
      try transition { core in core.enableNetwork() }
      didSomething = true
    }
    if try fire(.storeRetry) { didSomething = true }
    while try fire(.indexBackfill) { didSomething = true }
    for kind in StreamKind.allCases {
      if try open(kind, backend) { didSomething = true }
      while try send(kind, backend) { didSomething = true }
    }
    while try serve(backend) { didSomething = true }
    for kind in StreamKind.allCases {
      while try deliver(kind, backend) { didSomething = true }
    }
    closeAbandonedSessions(backend)
    return didSomething
  }

  /// Everything is as the backend has it.
  func checkAtRest() throws {
    try require(pending.isEmpty, "at rest, \(pending) are pending")
    try require(waits.isEmpty, "at rest, something still waits for writes")
    let indexes = try core!.store.indexes()
    try require(indexes.allSatisfy { $0.backfill == nil }, "at rest, indexes are incomplete: \(indexes)")
    let retries = core!.health.waiting
    try require(retries.isEmpty, "at rest, the store is still being retried")
    let limbo = core!.listens.limbo
    try require(limbo.active.isEmpty && limbo.enqueued.isEmpty, "at rest, documents are in limbo")
    for (id, listener) in listeners where listener.options.source == .default {
      let query = listener.query
      let name =
        "at rest, listener \(id.rawValue) of client \(index) on query \(ModelQueries.all.firstIndex(of: query) ?? -1)"
      let views = core!.listens.views
      guard let view = views.id(of: query).flatMap({ views[$0] })?.view else {
        throw Violation(description: "\(name) has no view")
      }
      let expected = server.result(of: query)
      let shown = view.documents.documents
      try require(
        shown.map(\.key) == expected.map(\.key),
        "\(name) shows \(shown.map(\.key)), the backend has \(expected.map(\.key)) (\(query))")
      for (left, right) in zip(shown, expected) {
        try require(left.data == right.data, "\(name) shows \(left), the backend has \(right)")
        // A view keeps the version of what it shows when another has the same contents; the cache does not.
        let cached = try core!.store.document(right.key)
        try require(cached?.version == right.version, "\(name): the cache has \(cached as Any), the backend \(right)")
      }
      guard let last = listener.last else { throw Violation(description: "\(name) never got a snapshot") }
      try require(view.isSynced, "\(name) is from cache")
      try require(view.mutatedKeys.isEmpty, "\(name) has pending writes: \(view.mutatedKeys)")
      try require(
        view.syncedKeys == Set(expected.map(\.key)), "\(name) counts \(view.syncedKeys.sorted()) as confirmed")
      try require(
        last.documents.keys == shown.map(\.key),
        "\(name) was told \(last.documents.keys), its view has \(shown.map(\.key))")
      let told = last.documents.documents
      for (left, right) in zip(told, shown) {
        try require(left.data == right.data, "\(name) was told \(left), its view has \(right)")
      }
      if listener.options.includeMetadataChanges {
        try require(!last.isFromCache && !last.hasPendingWrites, "\(name) was told that it is from cache or pending")
      }
    }
  }
}
