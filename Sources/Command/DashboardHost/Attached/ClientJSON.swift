// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreJSON
import FirestoreModel
import FirestoreText

/// A client's state as JSON, for scripts: the same words for a watched program and for a session of its own.
enum ClientJSON {
  typealias Member = JSONSyntax.Member

  static func status(_ status: ClientStatus) -> [Member] {
    [
      Member("online", string(status.onlineState.rawValue)),
      Member("networkEnabled", boolean(status.isNetworkEnabled)),
      Member("reason", status.reason.map { string("\($0)") } ?? null),
      Member("targets", integer(status.activeTargets)), Member("pending", integer(status.queue.count)),
      Member("inFlight", integer(status.inFlightWrites)),
      Member("rejected", integer(status.rejectedWrites.count)),
      Member("cacheBytes", status.cacheByteCount.map { integer(Int($0)) } ?? null),
      Member("durable", boolean(status.isDurable)),
    ]
  }

  static func write(_ write: PendingWrite) -> JSONSyntax {
    let state: String =
      switch write.state {
      case .held: "held"
      case .queued: "queued"
      case .inFlight: "in-flight"
      case .backoff: "backoff"
      }
    return object([
      Member("batch", integer(Int(write.id.rawValue))), Member("state", string(state)),
      Member("paths", paths(write.mutations)), Member("attempts", integer(write.attempts)),
      Member("time", time(write.localWriteTime)), Member("error", write.lastError.map(self.status) ?? null),
    ])
  }

  static func rejected(_ write: RejectedWrite) -> JSONSyntax {
    object([
      Member("batch", integer(Int(write.id.rawValue))), Member("paths", paths(write.mutations)),
      Member("error", status(write.rejection.status)), Member("time", time(write.rejection.time)),
      Member("setAside", boolean(write.isSetAside)),
    ])
  }

  static func faults(_ settings: FaultSettings) -> [Member] {
    [
      Member("offline", boolean(settings.isOffline)), Member("halfOpen", boolean(settings.isHalfOpen)),
      Member("latencyMilliseconds", integer(Int(settings.latency.wholeMicroseconds / 1000))),
      Member("jitterMilliseconds", integer(Int(settings.jitter.wholeMicroseconds / 1000))),
      Member("lostAcknowledgements", integer(settings.lostAcknowledgements)),
      Member("lostRequests", integer(settings.lostRequests)), Member("summary", string(settings.summary)),
    ]
  }

  static func status(_ status: RPCStatus) -> JSONSyntax {
    object([Member("code", string(status.code.name)), Member("message", string(status.message))])
  }

  static func data(_ document: Document, _ database: DatabaseID) -> JSONSyntax {
    // Text that `DocumentJSON` wrote is always valid JSON; `null` stands in if it ever is not.
    guard let fields = document.data?.fields,
      let value = try? JSONSyntax(parsing: DocumentJSON.line(of: fields, relativeTo: database))
    else { return null }
    return value
  }

  static func paths(_ mutations: [Mutation]) -> JSONSyntax { array(mutations.map { string($0.key.path.text) }) }

  static let null = JSONSyntax(.null)
  static func object(_ members: [Member]) -> JSONSyntax { JSONSyntax(.object(members)) }
  static func array(_ items: [JSONSyntax]) -> JSONSyntax { JSONSyntax(.array(items)) }
  static func string(_ text: String) -> JSONSyntax { JSONSyntax(.string(text)) }
  static func integer(_ number: Int) -> JSONSyntax { JSONSyntax(.integer(Int64(number))) }
  static func boolean(_ flag: Bool) -> JSONSyntax { JSONSyntax(.boolean(flag)) }
  static func time(_ time: Timestamp) -> JSONSyntax { string(time.toMilliseconds.rfc3339Text) }
}
