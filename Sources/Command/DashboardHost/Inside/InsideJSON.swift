// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreClientState
import FirestoreJSON
import FirestoreModel

/// A client's inside as one JSON object, for scripts. Times are in microseconds, sizes in bytes.
enum InsideJSON {
  typealias Member = JSONSyntax.Member

  static func line(_ inside: ClientInside, _ survey: CacheSurvey) -> String {
    object([
      Member("type", string("inside")), Member("time", time(inside.time)),
      Member("targets", JSONSyntax(.array(inside.targets.map(target)))),
      Member("targetCount", integer(inside.targetCount)),
      Member("limbo", lookups(inside.lookups)), Member("streams", JSONSyntax(.array(inside.streams.map(stream)))),
      Member("lease", inside.company.map(company) ?? null), Member("cache", cache(survey)),
      Member("queries", JSONSyntax(.array(inside.queries.map(query)))),
      Member("beginning", beginning(inside.beginning)),
      Member("connection", connection(inside.connection)),
      Member("kept", JSONSyntax(.array(inside.retentions.map(retention)))),
      Member("indexes", indexes(inside, survey.contents)),
    ]).lineText
  }

  private static func target(_ target: TargetState) -> JSONSyntax {
    object([
      Member("id", integer(Int(target.id))), Member("query", string(QueryText.line(target.target))),
      Member("purpose", string(target.purpose.rawValue)), Member("state", string(target.progress.rawValue)),
      Member("tokenTime", target.tokenTime.map(time) ?? null), Member("documents", integer(target.documents)),
      Member("sent", integer(target.sent)), Member("kept", integer(target.kept)),
      Member("lastUse", target.lastUse.map { integer(Int(clamping: $0)) } ?? null),
    ])
  }

  private static func lookups(_ lookups: Lookups) -> JSONSyntax {
    object([
      Member("asked", integer(lookups.asked)), Member("waiting", integer(lookups.waiting)),
      Member("limit", integer(lookups.limit)),
      Member("paths", JSONSyntax(.array(lookups.listed.map { string($0.key.path.text) }))),
    ])
  }

  private static func connection(_ connection: ConnectionState) -> JSONSyntax {
    object([
      Member("state", string(connection.online.rawValue)), Member("since", time(connection.since)),
      Member("reason", connection.reason.map { string("\($0)") } ?? null),
      Member("nextAttempt", connection.nextAttempt.map(time) ?? null),
    ])
  }

  private static func stream(_ stream: StreamUse) -> JSONSyntax {
    let state: String =
      switch stream.status.state {
      case .closed: "closed"
      case .opening: "opening"
      case .open: "open"
      case .backoff: "backoff"
      }
    return object([
      Member("stream", string(stream.kind.rawValue)), Member("state", string(state)),
      Member("begun", integer(stream.begun)), Member("since", stream.since.map(time) ?? null),
      Member("heard", stream.heardAt.map(time) ?? null), Member("messagesSent", integer(stream.messagesSent)),
      Member("messagesReceived", integer(stream.messagesReceived)),
      Member("bytesSent", stream.bytes.map { integer($0.sent) } ?? null),
      Member("bytesReceived", stream.bytes.map { integer($0.received) } ?? null),
    ])
  }

  private static func company(_ company: CacheCompany) -> JSONSyntax {
    object([
      Member("renewed", company.renewed.map(time) ?? null),
      Member(
        "clients",
        JSONSyntax(
          .array(
            company.members.map { member in
              object([
                Member("process", member.process.map { integer(Int($0)) } ?? null),
                Member("self", boolean(member.isSelf)), Member("lease", boolean(member.hasLease)),
                Member("network", boolean(member.usesNetwork)), Member("seen", time(member.seen)),
              ])
            }))),
    ])
  }

  private static func beginning(_ beginning: ClientInside.Beginning) -> JSONSyntax {
    func microseconds(_ time: Duration?) -> JSONSyntax {
      time.map { integer(Int(clamping: $0.wholeMicroseconds)) } ?? null
    }
    return object([
      Member("opening", microseconds(beginning.opening)),
      Member("firstSnapshot", microseconds(beginning.firstSnapshot)),
      Member("firstInSync", microseconds(beginning.firstInSync)),
    ])
  }

  private static func query(_ times: QueryTimes) -> JSONSyntax {
    let classes = times.classes.map { part in
      object([
        Member("documents", part.limit.map { integer($0) } ?? null), Member("runs", integer(part.runs)),
        Member("p50", integer(Int(clamping: part.median.wholeMicroseconds))),
        Member("p99", integer(Int(clamping: part.p99.wholeMicroseconds))),
      ])
    }
    return object([
      Member("query", string(QueryText.line(times.query))), Member("runs", integer(times.runs)),
      Member("plan", string(times.plan.rawValue)), Member("scanned", integer(times.scanned)),
      Member("found", integer(times.found)), Member("sizes", JSONSyntax(.array(classes))),
    ])
  }

  static let null = JSONSyntax(.null)
  static func object(_ members: [Member]) -> JSONSyntax { JSONSyntax(.object(members)) }
  static func string(_ text: String) -> JSONSyntax { JSONSyntax(.string(text)) }
  static func integer(_ number: Int) -> JSONSyntax { JSONSyntax(.integer(Int64(number))) }
  static func boolean(_ flag: Bool) -> JSONSyntax { JSONSyntax(.boolean(flag)) }
  static func time(_ time: Timestamp) -> JSONSyntax { string(time.toMilliseconds.rfc3339Text) }
}
