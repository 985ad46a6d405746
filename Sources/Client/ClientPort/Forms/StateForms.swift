// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreJSON
import FirestoreModel
import FirestoreQuery

// Listeners, connection and writes.

extension OnlineState: JSONFormed {}
extension ListenerOptions.Source: JSONFormed {}

extension ListenerOptions: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    ListenerOptions(
      includeMetadataChanges: try form("includeMetadataChanges", it?.includeMetadataChanges),
      source: try form("source", it?.source),
      waitForSyncWhenOnline: try form("waitForSyncWhenOnline", it?.waitForSyncWhenOnline))
  }
}

extension ListenerState.Result: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    ListenerState.Result(
      count: try form.optional("count", it?.count), isFromCache: try form("fromCache", it?.isFromCache),
      hasPendingWrites: try form("pendingWrites", it?.hasPendingWrites))
  }
}

extension ListenerState: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    var state = ListenerState(
      id: try form("listener", it?.id), query: try form("query", it?.query), options: try form("options", it?.options),
      result: try form("result", it?.result))
    state.client = try form.optionalWord("client", it?.client)
    return state
  }
}

extension SnapshotCause: JSONUnion {
  package func write(_ form: inout JSONForm) throws(JSONError) -> String {
    switch self {
    case .localWrite(let batch), .acknowledged(let batch), .cancelled(let batch): try form("batch", batch)
    case .rejected(let batch, let status):
      try form("batch", batch)
      try form("error", status)
    case .server(let version): try form("version", version)
    case .limboResolved(let key): try form("path", key)
    case .bundleLoaded(let name): try form.text("name", name)
    case .listenerAdded, .networkDisabled, .offline, .existenceFilter, .userChanged, .cacheRecovered: break
    }
    return words.name
  }

  package static func read(_ type: String, _ form: inout JSONForm) throws(JSONError) -> Self? {
    switch type {
    case "listener-added": .listenerAdded
    case "local-write": .localWrite(try form("batch"))
    case "acknowledged": .acknowledged(try form("batch"))
    case "rejected": .rejected(try form("batch"), try form("error"))
    case "cancelled": .cancelled(try form("batch"))
    case "server": .server(try form("version"))
    case "network-disabled": .networkDisabled
    case "offline": .offline
    case "limbo-resolved": .limboResolved(try form("path"))
    case "existence-filter": .existenceFilter
    case "user-changed": .userChanged
    case "bundle-loaded": .bundleLoaded(try form.text("name"))
    case "cache-recovered": .cacheRecovered
    default: nil
    }
  }
}

// MARK: - Connection

extension StreamStatus: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    let name: String? =
      switch it?.state {
      case .closed: "closed"
      case .opening: "opening"
      case .open: "open"
      case .backoff: "backoff"
      case nil: nil
      }
    let until: Timestamp? = if case .backoff(let until)? = it?.state { until } else { nil }
    let state = try State(try form.word("state", name), until: try form.optional("until", until), form)
    return StreamStatus(state, lastError: try form.optional("error", it?.lastError))
  }
}

extension StreamStatus.State {
  fileprivate init(_ name: String, until: Timestamp?, _ form: JSONForm) throws(JSONError) {
    switch (name, until) {
    case ("closed", _): self = .closed
    case ("opening", _): self = .opening
    case ("open", _): self = .open
    case ("backoff", let until?): self = .backoff(until: until)
    case (let other, _): throw form.error("Unknown stream state \"\(other)\".")
    }
  }
}

extension ConnectionReason: JSONUnion {
  package func write(_ form: inout JSONForm) throws(JSONError) -> String {
    switch self {
    case .idle: return "idle"
    case .connecting: return "connecting"
    case .networkDisabled: return "network-disabled"
    case .storageFailed: return "storage-failed"
    case .failed(let status):
      try form("error", status)
      return "failed"
    case .noAnswer: return "no-answer"
    case .elsewhere: return "elsewhere"
    }
  }

  package static func read(_ type: String, _ form: inout JSONForm) throws(JSONError) -> Self? {
    switch type {
    case "idle": .idle
    case "connecting": .connecting
    case "network-disabled": .networkDisabled
    case "storage-failed": .storageFailed
    case "failed": .failed(try form("error"))
    case "no-answer": .noAnswer
    case "elsewhere": .elsewhere
    default: nil
    }
  }
}

extension ReadMeter: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    ReadMeter(
      target: try form("target", it?.target), sent: try form("sent", it?.sent), kept: try form("kept", it?.kept))
  }
}

/// The status without its lists, which have separate events (`StatusChanges`).
extension ClientStatus: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    ClientStatus(
      onlineState: try form("online", it?.onlineState),
      isNetworkEnabled: try form("networkEnabled", it?.isNetworkEnabled),
      isDisabledByWatcher: try form.optional("disabledByWatcher", it?.isDisabledByWatcher == true ? true : nil)
        ?? false,
      reason: try form.optional("reason", it?.reason), nextRetry: try form.optional("nextRetry", it?.nextRetry),
      since: try form("since", it?.since), watch: try form("watch", it?.watch), write: try form("write", it?.write),
      activeTargets: try form("targets", it?.activeTargets),
      activeLimboResolutions: try form("lookups", it?.activeLimboResolutions),
      inFlightWrites: try form("inFlight", it?.inFlightWrites), queue: try form("queue", it?.queue),
      lastSnapshotAt: try form.optional("lastSnapshot", it?.lastSnapshotAt),
      roundTrips: try form("roundTrips", it?.roundTrips),
      cacheByteCount: try form.optional("cacheBytes", it?.cacheByteCount),
      cacheLimit: try form.optional("cacheLimit", it?.cacheLimit), isDurable: try form("durable", it?.isDurable),
      storeFailure: try form.optional("storeFailure", it?.storeFailure))
  }
}

extension StorageNotice: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    StorageNotice(badge: try form.optionalWord("badge", it?.badge), message: try form.text("message", it?.message))
  }
}

extension ConnectedBackend.Kind: JSONFormed {}

extension ConnectedBackend: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    ConnectedBackend(
      try form("kind", it?.kind), project: try form.word("project", it?.project),
      database: try form.word("database", it?.database), host: try form.optionalWord("host", it?.host),
      isTLS: try form("tls", it?.isTLS), user: try form.user("user", it?.user),
      name: try form.optionalWord("name", it?.name), production: try form.optional("production", it?.production),
      isReadOnly: try form.optional("readOnly", it?.isReadOnly))
  }
}

extension DataMember: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    DataMember(process: try form("process", it?.process), name: try form.text("name", it?.name))
  }
}

extension DataPeers.Role: JSONUnion {
  package func write(_ form: inout JSONForm) throws(JSONError) -> String {
    switch self {
    case .owner: return "owner"
    case .attached(let owner):
      try form("to", owner)
      return "attached"
    case .unreachable(let reason):
      try form.text("reason", reason)
      return "unreachable"
    }
  }

  package static func read(_ type: String, _ form: inout JSONForm) throws(JSONError) -> Self? {
    switch type {
    case "owner": .owner
    case "attached": .attached(to: try form("to"))
    case "unreachable": .unreachable(try form.text("reason"))
    default: nil
    }
  }
}

extension DataPeers: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    DataPeers(try form("standing", it?.role), others: try form("others", it?.others))
  }
}

// MARK: - Writes

extension PendingWrite.State {
  fileprivate static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    let name: String? =
      switch it {
      case .held: "held"
      case .queued: "queued"
      case .inFlight: "in-flight"
      case .backoff: "backoff"
      case nil: nil
      }
    let until: Timestamp? = if case .backoff(let until)? = it { until } else { nil }
    switch (try form.word("state", name), try form.optional("until", until)) {
    case ("held", _): return .held
    case ("queued", _): return .queued
    case ("in-flight", _): return .inFlight
    case ("backoff", let until?): return .backoff(until: until)
    case (let other, _): throw form.error("Unknown write state \"\(other)\".")
    }
  }
}

extension PendingWrite: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    PendingWrite(
      id: try form("batch", it?.id), mutations: try form("writes", it?.mutations),
      localWriteTime: try form("time", it?.localWriteTime), byteCount: try form("bytes", it?.byteCount),
      attempts: try form("attempts", it?.attempts), state: try State.form(&form, it?.state),
      lastError: try form.optional("error", it?.lastError))
  }
}

extension QueueSize: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    QueueSize(
      count: try form("count", it?.count), total: try form("total", it?.total),
      byteCount: try form("bytes", it?.byteCount))
  }
}

extension WrittenDocument.Effect: JSONFormed {}

extension WrittenDocument: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    WrittenDocument(try form("path", it?.key), try form("effect", it?.effect))
  }
}

extension WrittenDocuments: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    WrittenDocuments(naming: try form("first", it?.first), of: try form("count", it?.count))
  }
}

extension Rejection: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    Rejection(
      status: try form("error", it?.status), time: try form("rejected", it?.time),
      attempts: try form("attempts", it?.attempts))
  }
}

extension RejectedWrite: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    RejectedWrite(
      id: try form("batch", it?.id), mutations: try form("writes", it?.mutations),
      localWriteTime: try form("time", it?.localWriteTime), rejection: try form.members(of: it?.rejection),
      byteCount: try form("bytes", it?.byteCount))
  }
}

// MARK: - Faults

extension FaultLane: JSONFormed {}

extension FaultSettings.Lane: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    var lane = FaultSettings.Lane()
    lane.latency = try form.optional("latency", it?.latency)
    lane.jitter = try form.optional("jitter", it?.jitter)
    lane.bandwidth = try form.optional("bandwidth", it?.bandwidth)
    lane.isOffline = try form.optional("offline", it?.isOffline)
    return lane
  }
}

extension FaultSettings: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    var settings = FaultSettings()
    settings.isOffline = try form("offline", it?.isOffline)
    settings.isHalfOpen = try form("halfOpen", it?.isHalfOpen)
    settings.latency = try form("latency", it?.latency)
    settings.jitter = try form("jitter", it?.jitter)
    settings.lostAcknowledgements = try form("lostAcknowledgements", it?.lostAcknowledgements)
    settings.lostRequests = try form("lostRequests", it?.lostRequests)
    settings.bandwidth = try form.optional("bandwidth", it?.bandwidth)
    settings.readingRate = try form.optional("readingRate", it?.readingRate)
    settings.flap = try form.optional("flap", it?.flap)
    for lane in FaultLane.allCases { settings.lanes[lane] = try form.optional(lane.rawValue, it?.lanes[lane]) }
    return settings
  }
}

extension WriteFault: JSONUnion {
  package func write(_ form: inout JSONForm) throws(JSONError) -> String {
    switch self {
    case .dropRequest: return "drop-request"
    case .dropAcknowledgement: return "drop-ack"
    case .reject(let code):
      try form("code", code)
      return "reject"
    }
  }

  package static func read(_ type: String, _ form: inout JSONForm) throws(JSONError) -> Self? {
    switch type {
    case "drop-request": .dropRequest
    case "drop-ack": .dropAcknowledgement
    case "reject": .reject(try form("code"))
    default: nil
    }
  }
}

extension FaultEvent: JSONUnion {
  package func write(_ form: inout JSONForm) throws(JSONError) -> String {
    switch self {
    case .write(let fault):
      try form("fault", fault)
      return "write"
    case .read(let code):
      try form("code", code)
      return "read"
    case .listen(let code):
      try form("code", code)
      return "listen"
    case .restart(let withoutTokens):
      try form("withoutTokens", withoutTokens)
      return "restart"
    case .expireToken: return "expire-token"
    }
  }

  package static func read(_ type: String, _ form: inout JSONForm) throws(JSONError) -> Self? {
    switch type {
    case "write": .write(try form("fault"))
    case "read": .read(try form("code"))
    case "listen": .listen(try form("code"))
    case "restart": .restart(withoutTokens: try form("withoutTokens"))
    case "expire-token": .expireToken
    default: nil
    }
  }
}
