// SPDX-License-Identifier: Apache-2.0
package import ClientPort
import CommandOptions
import CommandOutput
import DashboardModel
package import FirestoreClientState
import FirestoreJSON
import FirestoreModel
import FirestoreQuery

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

/// The parts of the object that are about the cache.
extension InsideJSON {
  static func cache(_ survey: CacheSurvey) -> JSONSyntax {
    let collections = survey.shares.map { share in
      object([
        Member("path", string(share.path.text)), Member("documents", integer(share.documents)),
        Member("overlays", integer(share.overlays)), Member("names", integer(share.names)),
        Member("bytes", integer(Int(clamping: share.bytes))),
        Member("leavingDocuments", integer(share.leavingDocuments)),
        Member("leavingBytes", integer(Int(clamping: share.leavingBytes))),
        Member("offline", coverage(share.coverage)),
      ])
    }
    return object([
      Member("policy", string(survey.policy.rawValue)), Member("bytes", integer(Int(clamping: survey.bytes))),
      Member("freeBytes", integer(Int(clamping: survey.freeBytes))),
      Member("limit", survey.limit.map { integer(Int(clamping: $0)) } ?? null),
      Member("targets", integer(survey.targets)), Member("leavingTargets", integer(survey.leavingTargets)),
      Member("leavesNext", JSONSyntax(.array(survey.victims.map(victim)))),
      Member("collections", JSONSyntax(.array(collections))),
      Member("tables", JSONSyntax(.array(survey.contents.tables.map(table)))),
      Member("pages", integer(survey.contents.pageCount)),
      Member("logBytes", integer(Int(clamping: survey.contents.logBytes))),
      Member("checksums", string(survey.contents.checksums.rawValue)),
    ])
  }

  private static func coverage(_ coverage: CacheSurvey.Coverage) -> JSONSyntax {
    object([
      Member("wholeAsOf", coverage.wholeAsOf.map(time) ?? null), Member("results", integer(coverage.results)),
      Member("newestResult", coverage.newestResult.map(time) ?? null),
    ])
  }

  private static func victim(_ victim: CacheSurvey.Victim) -> JSONSyntax {
    let use = [
      Member("lastUse", integer(Int(clamping: victim.lastUse))),
      Member("confirmed", victim.confirmed.map(time) ?? null),
    ]
    return switch victim.subject {
    case .result(let target, let documents):
      object([Member("query", string(QueryText.line(target))), Member("documents", integer(documents))] + use)
    case .document(let key, let bytes):
      object([Member("path", string(key.path.text)), Member("bytes", integer(Int(clamping: bytes)))] + use)
    }
  }

  private static func table(_ table: CacheContents.Table) -> JSONSyntax {
    object([
      Member("table", string(table.name)), Member("rows", integer(table.rows)),
      Member("bytes", table.bytes.map { integer(Int(clamping: $0)) } ?? null),
    ])
  }

  /// A pin, or a lifetime in microseconds.
  static func retention(_ retention: Retention) -> JSONSyntax {
    object([
      Member("query", string(QueryText.line(retention.target))),
      Member("kind", string(retention.kind.isPin ? "pin" : "lifetime")),
      Member("lifetime", retention.lifetime.map { integer(Int(clamping: $0.wholeMicroseconds)) } ?? null),
      Member("since", time(retention.since)),
    ])
  }

  /// The local indexes with their progress, and with the count of their entries.
  static func indexes(_ inside: ClientInside, _ counted: CacheContents?) -> JSONSyntax {
    JSONSyntax(
      .array(
        inside.indexes.map { index in
          let amount = counted?.indexes.first { $0.state.definition == index.definition }
          return object([
            Member("index", string("\(index.definition)")), Member("automatic", boolean(index.isAutomatic)),
            Member("ready", boolean(index.backfill == nil)),
            Member("documentsIndexed", index.backfill.map { integer($0.documentsIndexed) } ?? null),
            Member("documentsTotal", index.backfill.map { integer($0.documentsTotal) } ?? null),
            Member("entries", amount.map { integer($0.entries) } ?? null),
            Member("bytes", amount.map { integer(Int(clamping: $0.bytes)) } ?? null),
          ])
        }))
  }
}

/// The inside of a watched program's client, printed once.
package struct InsideReport {
  private let address: InspectionAddress
  private let greeting: InspectionGreeting
  private let link: InspectionLink
  private let settings: InsideSettings

  package init(
    _ address: InspectionAddress, _ greeting: InspectionGreeting, _ link: InspectionLink, _ settings: InsideSettings
  ) {
    self.address = address
    self.greeting = greeting
    self.link = link
    self.settings = settings
  }

  /// Asks the program, and prints what it answers.
  /// - Throws: `unavailable` if the program ends.
  package func run(asJSON: Bool) async throws {
    link.send(InspectionWord(control: false))
    defer { link.cut() }
    guard case .inside(let inside) = try await answer(to: .inside, number: 1),
      case .survey(let survey) = try await answer(to: .survey, number: 2)
    else { throw CommandFailure(.unavailable, "\(greeting.name) \(address) answered something else.") }
    let output = OutputFile.standard()
    if asJSON {
      try output.data(line: InsideJSON.line(inside.plausible, survey.plausible))
    } else {
      try print(inside.plausible, survey.plausible, to: output)
    }
    try output.flush()
  }

  private func answer(to request: InspectionRequest, number: Int) async throws -> InspectionAnswer {
    link.send(NumberedRequest(number, request))
    while let lines = await link.next() {
      for line in lines {
        // News that only a later version of the program knows is passed over.
        guard let news = try? InspectionLine.value(InspectionNews.self, of: line) else { continue }
        if case .refused(let reason) = news { throw CommandFailure(.unavailable, reason) }
        guard case .answer(number, let answer) = news else { continue }
        if case .failed(let status) = answer { throw status }
        return answer
      }
    }
    throw CommandFailure(.unavailable, "\(greeting.name) \(address) has ended before it answered.")
  }

  private func print(_ inside: ClientInside, _ survey: CacheSurvey, to output: OutputFile) throws {
    for section in InsideSection.allCases {
      var context = InsideContext(inside.time)
      context.settings = settings
      context.isBilled = greeting.backend == .cloud
      guard let table = InsideTable.of(section, inside, survey, context) else { continue }
      if section != InsideSection.allCases.first { try output.line("") }
      if table.rows.isEmpty {
        try output.line(ShownText("\(section.rawValue): \(table.empty)"))
      } else {
        var text = TextTable(
          table.columns.map { TextTable.Column(title: $0.title, alignment: $0.isNumber ? .right : .left) })
        for row in table.rows { text.add(row.cells) }
        for line in text.lines() { try output.line(line) }
      }
      for note in table.notes { try output.line(ShownText("  \(note)")) }
    }
  }
}
