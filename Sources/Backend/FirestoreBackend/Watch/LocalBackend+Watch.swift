// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreProtocol
import FirestoreSQLite

/// The callbacks that notify a watch stream's transport. Called on the backend's executor.
package struct WatchSignal: Sendable {
  /// Called when `take` has messages, or throws.
  package var wake: @Sendable () -> Void
  /// Called when the stream is closed.
  package var end: @Sendable () -> Void

  package init(wake: @escaping @Sendable () -> Void, end: @escaping @Sendable () -> Void = {}) {
    self.wake = wake
    self.end = end
  }
}

extension LocalBackend {
  /// Opens a watch stream.
  /// - Returns: the id of the stream, and a signal (at most one pending) after which `take` has messages; the signal
  ///   ends when the stream is closed.
  package func openWatch(in database: DatabaseID) -> (session: WatchSessionID, signals: AsyncStream<Void>) {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let signal = WatchSignal(wake: { continuation.yield() }, end: { continuation.finish() })
    return (openWatch(in: database, signal), stream)
  }

  package func openWatch(in database: DatabaseID, _ signal: WatchSignal) -> WatchSessionID {
    lastSession += 1
    let id = WatchSessionID(rawValue: lastSession)
    sessions[id] = WatchSession(id: id, database: database)
    signals[id] = signal
    return id
  }

  /// Adds or removes a target.
  /// - Parameters:
  ///   - isChecked: whether the service has already checked the query. If not, the stricter rules of the SDKs apply.
  ///   - others: the remaining documents of a target that names several documents.
  /// - Throws: an error that ends the whole stream, for example if the target id is already in use.
  package func request(
    _ request: WatchRequest, on session: WatchSessionID, isChecked: Bool = false, others: [DocumentKey] = []
  ) throws(RPCStatus) {
    guard let database = sessions[session]?.database else { return }
    let state: DatabaseState
    do throws(StoreError) {
      if let loss = log.file.openFiles?.loss { throw loss }
      state = try log.state(of: database)
    } catch { throw error.status }
    switch request {
    case .add(let target):
      if let added = try sessions[session]?.add(target, isChecked: isChecked, others: others) {
        matcher.add(TargetReference(session: session, target: target.id), for: added, in: state.id)
      }
    case .remove(let id):
      if let target = sessions[session]?.remove(id) {
        matcher.remove(TargetReference(session: session, target: id), for: target, in: state.id)
      }
    }
    wake(session)
  }

  /// Rejects the request for a target: adds the target and immediately removes it with the cause.
  package func refuse(_ id: TargetID, _ cause: RPCStatus, on session: WatchSessionID) throws(RPCStatus) {
    try sessions[session]?.refuse(id, cause)
    wake(session)
  }

  /// Ends an active target, and sends its client the cause.
  package func end(_ id: TargetID, _ cause: RPCStatus, on session: WatchSessionID) {
    guard let database = sessions[session]?.database, let state = try? log.state(of: database),
      let target = sessions[session]?.end(id, cause)
    else { return }
    matcher.remove(TargetReference(session: session, target: id), for: target, in: state.id)
    wake(session)
  }

  /// Sets the documents that the stream depends on. When one of them changes, the stream is woken and `takeConcern`
  /// returns true.
  package func depend(_ session: WatchSessionID, on keys: Set<DocumentKey>) {
    guard let database = sessions[session]?.database else { return }
    dependencies.set(keys, of: session, in: database)
  }

  /// Whether a document that a stream depends on has changed since the last call.
  package func takeConcern(of session: WatchSessionID) -> Bool { dependencies.takeConcern(session) }

  /// Wakes every stream.
  package func wakeWatches() { for id in sessions.keys { wake(id) } }

  /// Takes the messages to send on a stream.
  /// - Parameter bytes: the size in bytes after which no more documents are added.
  /// - Throws: the stream's final status.
  package func take(
    from session: WatchSessionID, upTo bytes: Int = WatchDelivery.bytes
  ) throws(RPCStatus) -> WatchDelivery {
    if let failure = failures[session] { throw failure }
    let nothing = WatchDelivery(changes: [], readTime: SnapshotVersion(microseconds: 0), hasMore: false)
    guard let position = sessions.index(forKey: session), sessions.values[position].isReady else { return nothing }
    let instance = log.instance
    do throws(StoreError) {
      if !sessions.values[position].needsReading {
        let state = try log.state(of: sessions.values[position].database)
        return try sessions.values[position].take(state, upTo: bytes, instance: instance)
      }
      guard var watch = sessions.removeValue(forKey: session) else { return nothing }
      defer { sessions[session] = watch }
      let historyStart = try log.historyStart(of: watch.database)
      return try log.read(watch.database) { reader throws(StoreError) in
        try watch.take(reader, upTo: bytes, instance: instance, historyStart: historyStart)
      }
    } catch { throw error.status }
  }

  /// Ends a stream and its signal, and drops its state.
  package func closeWatch(_ session: WatchSessionID) {
    if let watch = sessions.removeValue(forKey: session), let state = try? log.state(of: watch.database) {
      // The matcher finds targets by the database's number.
      for target in watch.targets.values {
        matcher.remove(TargetReference(session: session, target: target.id), for: target, in: state.id)
      }
      dependencies.forget(session, in: watch.database)
    }
    signals.removeValue(forKey: session)?.end()
    failures[session] = nil
  }

  /// Sends every stream a new position, so that its client knows that the stream is alive. Call it every 30 to 60 s.
  /// Also prunes a slice of the history that is too old to read.
  package func heartbeat() {
    // A later heartbeat can prune what cannot be pruned now.
    try? log.pruneHistory()
    for id in sessions.keys {
      sessions[id]?.heartbeat()
      wake(id)
    }
  }

  /// Ends every watch stream and every stream of commit notifications with a status.
  package func endWatches(_ status: RPCStatus) {
    for id in sessions.keys {
      failures[id] = status
      wake(id)
    }
    followers.end(status)
  }

  /// The number of open watch streams.
  package var watchCount: Int { sessions.count }

  /// Passes a commit to the targets that it could affect. Errors do not undo the commit. An error ends the session, and
  /// the session's client requests its targets again.
  func publish(_ transitions: [DocumentTransition], in database: DatabaseID) {
    lookedUpDocuments.note(transitions, in: database)
    if !followers.isEmpty { followers.note(transitions, in: database) }
    if !dependencies.isEmpty {
      for transition in transitions { dependencies.note(transition.key, in: database).forEach(wake) }
    }
    guard !transitions.isEmpty, !matcher.isEmpty else { return }
    do throws(StoreError) {
      try publish(transitions, in: database, log.state(of: database))
    } catch {
      for id in sessions.keys where sessions[id]?.database == database {
        failures[id] = error.status
        wake(id)
      }
    }
  }

  private func publish(
    _ transitions: [DocumentTransition], in database: DatabaseID, _ state: DatabaseState
  ) throws(StoreError) {
    // A commit usually changes one document. It needs no table of the affected targets.
    var concerned: [(TargetReference, [DocumentTransition])] = []
    if transitions.count == 1 {
      matcher.forEachCandidate(transitions[0].key, in: state.id) { concerned.append(($0, transitions)) }
    } else {
      var byTarget: [TargetReference: [DocumentTransition]] = [:]
      for transition in transitions {
        matcher.forEachCandidate(transition.key, in: state.id) { byTarget[$0, default: []].append(transition) }
      }
      concerned = byTarget.map { ($0.key, $0.value) }
    }
    if concerned.isEmpty { return }
    try log.read(database) { reader in
      for (reference, transitions) in concerned {
        do throws(StoreError) {
          try sessions[reference.session]?.apply(transitions, to: reference.target, reader)
        } catch { failures[reference.session] = error.status }
      }
    }
    for (reference, _) in concerned
    where sessions[reference.session]?.isReady == true || failures[reference.session] != nil {
      wake(reference.session)
    }
  }

  func restartTargets(in database: DatabaseID) {
    lookedUpDocuments.noteAll(in: database)
    dependencies.noteAll(in: database)
    followers.noteEverything(in: database)
    for id in sessions.keys where sessions[id]?.database == database {
      for target in sessions[id]?.targets.keys.sorted() ?? [] { sessions[id]?.restart(target) }
      wake(id)
    }
  }

  private func wake(_ session: WatchSessionID) { signals[session]?.wake() }
}
