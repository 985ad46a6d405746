// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
package import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import Synchronization

/// One Listen stream (PROTOCOL §2), for a transport on the backend's executor. Every method runs as one step on that
/// executor, so a commit reaches the stream without a task.
package struct ListenStream: Sendable {
  fileprivate struct Watch {
    let session: WatchSessionID
    let names: DocumentNames
    /// The restrictions of the caller; `nil` for an administrator.
    var access: (any ListenerPermissions)?
    let indexes: ServedIndexes?
    let database: DatabaseID
  }

  private let backend: LocalBackend
  private let access: (any CallerPermissions)?
  private let indexes: ServedIndexes?
  private let told: LastMessages
  private let wake: @Sendable () -> Void
  /// The watch session. The first request names the database and starts the session.
  private var watch: Watch?
  private var lastChosenID: Int32 = 0

  /// - Parameter wake: called when `take` has messages to send, possibly from within the other methods.
  package init(_ service: FirestoreService, wake: @escaping @Sendable () -> Void) {
    backend = service.backend
    access = service.access
    indexes = service.indexes
    told = service.told
    self.wake = wake
  }

  /// Adds or removes a target.
  /// - Throws: an error that ends the whole stream.
  package mutating func receive(_ bytes: [UInt8]) throws(RPCStatus) {
    var message = try RequestReader.read(bytes) { reader throws(WireError) in try reader.listenRequest() }
    // Zero lets the server choose the id.
    if message.target?.id.rawValue == 0 {
      lastChosenID += 1
      message.target?.id = TargetID(lastChosenID)
    }
    let request = try ListenRequest(message)
    let (change, database, signal) = (request.change, request.database, WatchSignal(wake: wake))
    let opened =
      self.watch
      ?? Watch(
        session: backend.step { $0.openWatch(in: database, signal) }, names: DocumentNames(database),
        access: access?.listener(in: database), indexes: indexes, database: database)
    watch = opened
    watch = try backend.step { backend throws(RPCStatus) in
      var watch = opened
      try watch.make(change, on: backend)
      return watch
    }
  }

  /// Takes the messages to send, and returns whether more follow immediately.
  /// - Parameter bytes: the size in bytes after which no more documents are added.
  /// - Throws: the stream's final status.
  package mutating func take(
    upTo bytes: Int = WatchDelivery.bytes
  ) throws(RPCStatus) -> (messages: [[UInt8]], hasMore: Bool) {
    guard let watch else { return ([], false) }
    let delivery: WatchDelivery
    if watch.access == nil {
      delivery = try backend.step { backend throws(RPCStatus) in try backend.take(from: watch.session, upTo: bytes) }
    } else {
      (self.watch, delivery) = try backend.step { backend throws(RPCStatus) in
        var watch = watch
        let delivery = try watch.takeAllowed(upTo: bytes, on: backend)
        return (watch, delivery)
      }
    }
    let messages = delivery.changes.map { change in
      told.message(change, in: watch.database, watch.names, readTime: delivery.readTime)
    }
    return (messages, delivery.hasMore)
  }

  /// Ends the stream: it receives no more messages. Must be called once the stream has received a request.
  package func close() {
    guard let watch else { return }
    backend.step { $0.closeWatch(watch.session) }
  }
}

extension ListenStream.Watch {
  /// Takes the messages for a caller who is subject to rules, and decides in the same step whether each message may be
  /// sent.
  fileprivate mutating func takeAllowed(
    upTo bytes: Int, on backend: isolated LocalBackend
  ) throws(RPCStatus) -> WatchDelivery {
    // Moved out during the change: an existential cannot be mutated in place in a call that is isolated to an actor.
    guard var access = access.take() else { return try backend.take(from: session, upTo: bytes) }
    defer { self.access = access }
    try access.checkTime()
    access.review(on: session, backend)
    var delivery = try backend.take(from: session, upTo: bytes)
    try access.withhold(from: &delivery, backend)
    return delivery
  }

  private mutating func admit(
    _ target: WatchTarget, others: [DocumentKey], _ orderBy: [OrderBy], on backend: isolated LocalBackend
  ) throws(RPCStatus) {
    guard var access = access.take() else { return }
    defer { self.access = access }
    try access.add(target.id, target.target, others: others, orderBy, on: session, backend)
  }

  private mutating func forget(_ id: TargetID, on backend: isolated LocalBackend) {
    guard var access = access.take() else { return }
    defer { self.access = access }
    access.remove(id, on: session, backend)
  }

  fileprivate mutating func make(
    _ change: ListenRequest.Change, on backend: isolated LocalBackend
  ) throws(RPCStatus) {
    switch change {
    case .watch(.add(let target), let orderBy, let others):
      try access?.checkTime()
      do throws(RPCStatus) {
        try indexes?.check(ServedQuery(target.target), in: database)
        try admit(target, others: others, orderBy, on: backend)
      } catch { return try backend.refuse(target.id, error, on: session) }
      try backend.request(.add(target), on: session, isChecked: true, others: others)
    case .watch(.remove(let id), _, _):
      forget(id, on: backend)
      try backend.request(.remove(id), on: session)
    case .invalid(let id, let status): try backend.refuse(id, status, on: session)
    }
  }
}

/// Caches the bytes of the last messages about a document and about a snapshot. Listeners of one collection usually get
/// the same messages, one after another, with the same target id. So each message is encoded once for all of them.
final class LastMessages: Sendable {
  private struct Change: Sendable {
    let database: DatabaseID
    let key: DocumentKey
    /// The version, which identifies the document's state.
    let version: SnapshotVersion
    let exists: Bool
    let updated: [TargetID]
    let removed: [TargetID]
    let bytes: [UInt8]
  }

  private struct Snapshot: Sendable {
    let version: SnapshotVersion
    /// The position, which also identifies the data set.
    let token: ResumeToken
    let bytes: [UInt8]
  }

  private struct State: Sendable {
    var change: Change?
    var snapshot: Snapshot?
  }

  /// The maximum size in bytes of a stored message.
  private static let mostBytes = 64 << 10

  private let state = Mutex(State())

  /// The encoded message about a change, for a listener of the database.
  func message(
    _ change: WatchChange, in database: DatabaseID, _ names: DocumentNames, readTime: SnapshotVersion
  ) -> [UInt8] {
    func encoded() -> [UInt8] { WireWriter.message { $0.watchChange(change, names, readTime: readTime) } }
    switch change {
    case .document(let document, let updated, let removed):
      guard let version = document.version else { return encoded() }
      return state.withLock { state in
        if let last = state.change, last.version == version, last.exists == document.exists, last.key == document.key,
          last.updated == updated, last.removed == removed, last.database == database
        {
          return last.bytes
        }
        let bytes = encoded()
        if bytes.count > Self.mostBytes { return bytes }
        state.change = Change(
          database: database, key: document.key, version: version, exists: document.exists, updated: updated,
          removed: removed, bytes: bytes)
        return bytes
      }
    case .snapshot(let version, let token?):
      return state.withLock { state in
        if let last = state.snapshot, last.version == version, last.token == token { return last.bytes }
        let bytes = encoded()
        state.snapshot = Snapshot(version: version, token: token, bytes: bytes)
        return bytes
      }
    case .added, .removed, .current, .reset, .token, .snapshot, .documentRemoved, .filter: return encoded()
    }
  }
}
