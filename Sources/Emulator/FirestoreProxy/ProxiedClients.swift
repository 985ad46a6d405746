// SPDX-License-Identifier: Apache-2.0
package import ClientPort
package import FirestoreClientState
package import FirestoreModel
import FirestoreProtoJSON
import FirestoreProtocol
import FirestoreQuery
import FirestoreService
import FirestoreText

/// The clients of a proxy, reconstructed from the messages that pass through it: their listeners with the documents
/// that the server has sent, and their unanswered writes.
///
/// Each connection is a client, unless it replaces a connection whose streams have all ended.
package struct ProxiedClients: Sendable {
  package enum Event: Sendable {
    case event(ClientEvent)
    case fault(FaultChange)
    /// A fault affected the client's last write or listener.
    case hit(FaultEvent)
    /// A description of traffic or of a fault that the proxy cannot report as an event of a client.
    case gap(String)
    /// The client disconnected a minute ago and did not return.
    case left
  }

  /// An event of the client with this name. Without a name, it is an event of all clients.
  package typealias NamedEvent = (client: String?, event: Event)

  private struct Target {
    var listener: ListenerTag
    var query: FirestoreQuery.Query
    /// The documents that the server has sent, and the changes that no snapshot has made visible yet.
    var documents: [DocumentKey: Document] = [:]
    var changes: [ListenerSnapshot.Change] = []
    /// The documents that the server has not sent again since it reset the target.
    var unconfirmed: Set<DocumentKey> = []
    var isCurrent = false
    var hasSnapshot = false
  }

  private struct Stream {
    var client: String
    var method: String
    var database: DatabaseID?
    var targets: [TargetID: Target] = [:]
    /// The unanswered writes of this stream.
    var sent: [BatchID] = []
    var isOver = false
  }

  /// The database that the clients use; `nil` before the first request that names a database.
  package private(set) var database: DatabaseID?
  /// Whether events reported listener or write messages without their contents.
  package private(set) var lacksContents = false
  /// Whether clients made calls other than Listen, Write and Commit.
  package private(set) var hasOtherCalls = false
  /// The size of the stored documents in bytes.
  package private(set) var documentBytes = 0
  private var streams: [Int: Stream] = [:]
  private var connections: [Int: String] = [:]
  /// The clients without a connection, with the times when they disconnected. A client can return with another
  /// connection.
  private var departed: [String: Timestamp] = [:]
  private var lastClient = 0
  /// The unanswered writes.
  private var writes: [BatchID: (client: String, write: PendingWrite)] = [:]
  private var lastListener = 0
  private var lastBatch: Int64 = 0
  private var time = Timestamp(seconds: 0)
  private var events: [NamedEvent] = []

  /// The time in microseconds after which a client without a connection is removed.
  private static let absence: Int64 = 60_000_000

  package init() {}

  /// The name of the client of a connection; `nil` before its first stream.
  package func name(of connection: Int) -> String? { connections[connection] }

  /// - Returns: the client events that result from the proxy's event, in order.
  package mutating func receive(_ event: ProtocolEvent) -> [NamedEvent] {
    events = []
    time = max(time, event.time)
    forgetDeparted()
    switch event.kind {
    case .faults: changeFaults(event.remark ?? "")
    case .missed: emit(.gap("events that the proxy missed"), nil)
    case .disconnected: if let connection = event.connection { disconnect(connection) }
    default: if let connection = event.connection, let stream = event.stream { receive(event, connection, stream) }
    }
    return events
  }

  private mutating func receive(_ event: ProtocolEvent, _ connection: Int, _ number: Int) {
    let isKnown = ["Listen", "Write", "Commit"].contains(event.method)
    if streams[number] == nil {
      streams[number] = Stream(client: client(of: connection), method: event.method)
      if !isKnown { hasOtherCalls = true }
    }
    switch event.kind {
    case .request, .response:
      guard isKnown else {
        if database == nil, event.kind == .request { noteDatabase(event) }
        return
      }
      guard let content = event.message?.content else {
        lacksContents = true
        return
      }
      // An unreadable message comes from a program of another kind.
      guard let bytes = content.bytes else { return }
      if event.kind == .request { request(bytes, number) } else { response(bytes, number, event.message?.kind ?? "") }
    case .ended: end(number, event.status?.code ?? .ok)
    case .fault: fault(event.remark ?? "", number)
    default: break
    }
  }

  private mutating func client(of connection: Int) -> String {
    if let client = connections[connection] { return client }
    let busy = Set(streams.values.filter { !$0.isOver }.map(\.client))
    let idle = Set(connections.values).union(departed.keys).subtracting(busy)
    if idle.isEmpty { lastClient += 1 }
    let client = idle.min() ?? "client-\(lastClient)"
    connections[connection] = client
    departed[client] = nil
    return client
  }

  private mutating func disconnect(_ connection: Int) {
    guard let client = connections.removeValue(forKey: connection), !connections.values.contains(client) else { return }
    departed[client] = time
  }

  private mutating func forgetDeparted() {
    for (client, since) in departed where time.microseconds - since.microseconds > Self.absence {
      departed[client] = nil
      for (number, stream) in streams where stream.client == client {
        for target in stream.targets.values { forget(target) }
        streams[number] = nil
      }
      writes = writes.filter { $0.value.client != client }
      emit(.left, client)
    }
  }

  private mutating func forget(_ target: Target) {
    documentBytes -= target.documents.values.reduce(0) { $0 + $1.byteCount }
  }

  private mutating func emit(_ event: Event, _ client: String?) { events.append((client, event)) }

  // MARK: Requests

  private mutating func request(_ bytes: [UInt8], _ number: Int) {
    guard let stream = streams[number] else { return }
    do throws(RPCStatus) {
      switch stream.method {
      case "Listen":
        let (database, watch) = try RecordedRequest.watch(bytes)
        use(database, number)
        self.watch(watch, number)
      case "Write":
        let (database, mutations) = try RecordedRequest.writes(ofStream: bytes, in: stream.database)
        use(database, number)
        write(mutations, bytes.count, number)
      default:
        let (database, mutations) = try RecordedRequest.writes(ofCommit: bytes)
        use(database, number)
        write(mutations, bytes.count, number)
      }
    } catch { emit(.gap("a request of \(stream.method) that cannot be read: \(error.message)"), nil) }
  }

  /// Reads the database from the first field of a request, which names the database or a resource in it.
  private mutating func noteDatabase(_ event: ProtocolEvent) {
    guard let bytes = event.message?.content?.bytes else { return }
    // Other requests name no database.
    let name = try? WireReader.read(bytes) { reader throws(WireError) -> String in
      var name = ""
      try reader.each(1) { reader throws(WireError) in name = try reader.string() }
      return name
    }
    let parts = (name ?? "").split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count >= 4, parts[0] == "projects", parts[2] == "databases" else { return }
    database = DatabaseID(project: String(parts[1]), database: String(parts[3]))
  }

  private mutating func use(_ database: DatabaseID, _ number: Int) {
    streams[number]?.database = database
    self.database = database
  }

  private mutating func watch(_ watch: RecordedRequest.Watch, _ number: Int) {
    guard let client = streams[number]?.client else { return }
    switch watch {
    case .remove(let id):
      if let target = streams[number]?.targets.removeValue(forKey: id) {
        forget(target)
        emit(.event(.listenerStopped(target.listener)), client)
      }
    case .other(_, let reason): emit(.gap("a listener that no step can express: \(reason)"), client)
    case .add(let id, let query):
      // A stream that replaces a broken one begins with the same targets.
      for (other, stream) in streams where stream.client == client && stream.isOver {
        guard let (same, target) = stream.targets.first(where: { $0.value.query == query }) else { continue }
        streams[other]?.targets[same] = nil
        streams[number]?.targets[id] = target
        streams[number]?.targets[id]?.isCurrent = false
        return
      }
      lastListener += 1
      streams[number]?.targets[id] = Target(listener: ListenerTag(lastListener), query: query)
      let options = ListenerOptions(includeMetadataChanges: true)
      emit(.event(.listenerStarted(ListenerState(id: lastListener, query: query, options: options))), client)
    }
  }

  private mutating func write(_ mutations: [Mutation], _ byteCount: Int, _ number: Int) {
    guard let client = streams[number]?.client, !mutations.isEmpty else { return }
    let inFlight = Set(streams.values.flatMap(\.sent))
    let again = writes.filter { id, waiting in
      !inFlight.contains(id) && waiting.client == client && waiting.write.mutations == mutations
    }.keys.min { $0.rawValue < $1.rawValue }
    if let again {
      writes[again]?.write.attempts += 1
      streams[number]?.sent.append(again)
    } else {
      lastBatch += 1
      let write = PendingWrite(
        id: BatchID(lastBatch), mutations: mutations, localWriteTime: time, byteCount: byteCount, attempts: 1,
        state: .inFlight)
      writes[write.id] = (client, write)
      streams[number]?.sent.append(write.id)
    }
    emitWrites(of: client)
  }

  private mutating func emitWrites(of client: String) {
    let waiting = writes.values.filter { $0.client == client }.map(\.write).sorted { $0.id.rawValue < $1.id.rawValue }
    emit(.event(.pendingWrites(waiting)), client)
  }

  // MARK: Responses

  private mutating func response(_ bytes: [UInt8], _ number: Int, _ kind: String) {
    guard let stream = streams[number] else { return }
    switch stream.method {
    case "Listen":
      guard let database = stream.database else { return }
      let names = DocumentNames(database)
      // An unreadable change belongs to a newer protocol; clients skip it too.
      let change = try? WireReader.read(bytes) { reader throws(WireError) in try reader.watchChange(names) }
      if let change = change ?? nil { apply(change, number) }
    case "Write": if MessageSummary("Write", bytes, isRequest: false).kind == "writeResults" { answer(nil, number) }
    default: answer(nil, number)
    }
  }

  private mutating func answer(_ status: RPCStatus?, _ number: Int) {
    guard let stream = streams[number], let id = stream.sent.first else { return }
    streams[number]?.sent.removeFirst()
    guard let (client, write) = writes.removeValue(forKey: id) else { return }
    let duration = Duration.microseconds(time.microseconds - write.localWriteTime.microseconds)
    emit(.event(status.map { .writeRejected(id, $0) } ?? .writeAcknowledged(id, after: duration)), client)
    emitWrites(of: client)
  }

  private mutating func apply(_ change: WatchChange, _ number: Int) {
    switch change {
    case .document(let document, let targets, let removed):
      for id in targets where document.exists { put(document, id, number) }
      for id in removed { remove(document.key, now: document, id, number) }
    case .documentRemoved(let key, let targets): for id in targets { remove(key, now: nil, id, number) }
    case .current(let ids, _):
      for id in ids.isEmpty ? streams[number].map({ Array($0.targets.keys) }) ?? [] : ids {
        streams[number]?.targets[id]?.isCurrent = true
      }
      show(number)
    case .snapshot: show(number)
    case .removed(let ids, let cause):
      guard let cause, let client = streams[number]?.client else { return }
      for id in ids {
        guard let target = streams[number]?.targets.removeValue(forKey: id) else { continue }
        forget(target)
        emit(.event(.listenerFailed(target.listener, cause)), client)
      }
    case .reset(let ids, _):
      for id in ids.isEmpty ? streams[number].map({ Array($0.targets.keys) }) ?? [] : ids {
        guard let keys = streams[number]?.targets[id]?.documents.keys else { continue }
        streams[number]?.targets[id]?.unconfirmed = Set(keys)
        streams[number]?.targets[id]?.isCurrent = false
      }
    case .added, .token, .filter: return
    }
  }

  private mutating func put(_ document: Document, _ id: TargetID, _ number: Int) {
    guard var target = streams[number]?.targets[id] else { return }
    let previous = target.documents.updateValue(document, forKey: document.key)
    target.unconfirmed.remove(document.key)
    documentBytes += document.byteCount - (previous?.byteCount ?? 0)
    target.changes.append(.init(previous == nil ? .added : .modified, document, previous: previous))
    streams[number]?.targets[id] = target
  }

  private mutating func remove(_ key: DocumentKey, now: Document?, _ id: TargetID, _ number: Int) {
    guard var target = streams[number]?.targets[id], let previous = target.documents.removeValue(forKey: key) else {
      return
    }
    documentBytes -= previous.byteCount
    target.changes.append(.init(.removed, previous, previous: previous, now: now))
    streams[number]?.targets[id] = target
  }

  /// Emits the snapshots for a consistent version.
  private mutating func show(_ number: Int) {
    for (id, target) in streams[number]?.targets ?? [:] where target.isCurrent {
      for key in target.unconfirmed.sorted() { remove(key, now: nil, id, number) }
      streams[number]?.targets[id]?.unconfirmed = []
    }
    guard let stream = streams[number] else { return }
    for (id, target) in stream.targets.sorted(by: { $0.key < $1.key }) where target.isCurrent {
      if target.hasSnapshot, target.changes.isEmpty { continue }
      streams[number]?.targets[id]?.changes = []
      streams[number]?.targets[id]?.hasSnapshot = true
      let snapshot = ListenerSnapshot(
        listener: target.listener, changes: target.changes, isFromCache: false, syncStateChanged: !target.hasSnapshot,
        hasPendingWrites: false, count: target.documents.count, causes: [.server(SnapshotVersion(time))], time: time)
      emit(.event(.snapshot(snapshot)), stream.client)
    }
  }

  // MARK: Ends and faults

  /// The codes after which a client resends its writes on another stream.
  private static let transientCodes: Set<StatusCode> = [
    .ok, .unavailable, .cancelled, .unknown, .internal, .deadlineExceeded, .resourceExhausted,
  ]

  private mutating func end(_ number: Int, _ code: StatusCode) {
    if !Self.transientCodes.contains(code) { answer(RPCStatus(code, ""), number) }
    streams[number]?.sent = []
    streams[number]?.isOver = true
    // The targets remain until another stream of the client replaces this one.
    if streams[number]?.targets.isEmpty ?? true { streams[number] = nil }
  }

  private mutating func fault(_ remark: String, _ number: Int) {
    guard let stream = streams[number] else { return }
    let code = StatusCode.allCases.first { remark.hasSuffix(": \($0.name)") }
    switch remark {
    case "the write is passed on, its answer will be lost": emit(.hit(.write(.dropAcknowledgement)), stream.client)
    case "the write is lost": emit(.hit(.write(.dropRequest)), stream.client)
    case "the answer is lost": return
    default:
      if let code, remark.hasPrefix("the write is rejected") {
        emit(.hit(.write(.reject(code))), stream.client)
      } else if let code, remark.hasPrefix("the listener is rejected") {
        emit(.hit(.listen(code)), stream.client)
      } else {
        emit(.gap("a fault: \(remark)"), stream.client)
      }
    }
  }

  /// - Parameter words: the proxy's description of a change of its faults.
  private mutating func changeFaults(_ words: String) {
    let plain: [FaultChange] = [
      .up, .calm, .silent, .down(nil), .down(.watch), .down(.write), .down(.read),
      .event(.restart(withoutTokens: false)), .event(.restart(withoutTokens: true)),
    ]
    if let change = plain.first(where: { FaultText.account(of: $0) == words }) {
      for client in Set(connections.values).sorted() { emit(.fault(change), client) }
    } else if !words.hasPrefix("the next ") {
      // A fault of a single call is reported when it hits the call.
      emit(.gap("faults of the proxy: \(words)"), nil)
    }
  }
}

extension Document {
  fileprivate var byteCount: Int { data?.encoded.bytes.count ?? 0 }
}
