// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
package import FirestoreQuery

/// The sections about the active targets and the limbo documents.
extension InsideTable {
  /// - Parameter now: the time to which ages are relative.
  package static func targets(of inside: ClientInside, at now: Timestamp) -> InsideTable {
    var table = InsideTable(columns: [
      Column(title: "target", isFlexible: true), Column(title: "id", isNumber: true, rank: 3),
      Column(title: "for", rank: 4), Column(title: "state"), Column(title: "token age", isNumber: true, rank: 1),
      Column(title: "docs", isNumber: true), Column(title: "sent", isNumber: true, rank: 2),
      Column(title: "from cache", isNumber: true, rank: 2), Column(title: "last use", isNumber: true, rank: 5),
    ])
    table.rows = inside.targets.map { row($0, at: now) }
    table.empty = "no target: no listener is open"
    if inside.targetCount > inside.targets.count {
      table.notes.append("the first \(inside.targets.count) of \(grouped(inside.targetCount)) targets")
    }
    let cost = inside.targets.reduce(0) { $0 + $1.readsAnew }
    if cost > 0 {
      table.notes.append(
        "after more than 30 minutes offline Cloud Firestore bills them again: \(reads(cost)), even if nothing is sent")
    }
    return table
  }

  private static func row(_ target: TargetState, at now: Timestamp) -> Row {
    let token = target.tokenTime.map { TimeText.elapsed(seconds: now.wholeSeconds(since: $0)) }
    let subject: InsideSubject? =
      if target.target.isDocumentTarget {
        .document(DocumentKey(unchecked: target.target.path))
      } else {
        target.target.collectionGroup == nil ? .collection(target.target.path) : nil
      }
    let saved = target.kept > 0 ? ", \(grouped(target.kept)) from the cache, not sent" : ""
    return Row(
      cells: [
        QueryText.line(target.target), "\(target.id)", target.purpose.rawValue, target.progress.words, token ?? "none",
        grouped(target.documents), grouped(target.sent), grouped(target.kept),
        target.lastUse.map { "\($0)" } ?? "",
      ],
      isNotable: target.purpose != .listen || target.progress != .current, subject: subject,
      detail: "\(reads(target.sent)) so far\(saved); back after more than 30 minutes: \(reads(target.readsAnew)) on "
        + "Cloud Firestore")
  }

  private static func reads(_ count: Int) -> String { "\(grouped(count)) read\(count == 1 ? "" : "s")" }

  package static func limbo(of inside: ClientInside) -> InsideTable {
    let lookups = inside.lookups
    var table = InsideTable(columns: [
      Column(title: "document", isFlexible: true), Column(title: "state"), Column(title: "target", isNumber: true),
      Column(title: "place", isNumber: true),
    ])
    let asked = lookups.listed.count { $0.target != nil }
    table.rows = lookups.listed.enumerated().map { index, lookup in
      // Requested documents come first.
      let place = lookup.target == nil ? "\(index - asked + 1) of \(grouped(lookups.waiting))" : ""
      return Row(
        cells: [
          lookup.key.path.text, lookup.target == nil ? "pending" : "asked", lookup.target.map { "\($0)" } ?? "", place,
        ],
        isNotable: lookup.target == nil, subject: .document(lookup.key),
        detail: lookup.target == nil
          ? "requested after earlier documents are answered, \(lookups.limit) at a time"
          : "in a result, but not listed by the server: waiting for its answer")
    }
    table.empty = "no document in limbo: the server has listed every document that a result shows"
    let listed = lookups.listed.count < lookups.asked + lookups.waiting ? "; \(lookups.listed.count) are listed" : ""
    table.notes = [
      "\(grouped(lookups.asked)) requested, \(grouped(lookups.waiting)) pending; at most \(lookups.limit) at a time"
        + listed
    ]
    return table
  }
}

extension TargetState {
  /// The count of reads that Cloud Firestore bills if the listener is restarted. At least one read is billed.
  var readsAnew: Int { max(1, documents) }
}

extension TargetState.Progress {
  fileprivate var words: String {
    switch self {
    case .unasked: "not asked"
    case .asked: "asked"
    case .receiving: "receiving"
    case .current: "current"
    }
  }
}

extension QueryText {
  /// A target as text, in the form of a query with this target.
  package static func line(_ target: Target) -> String {
    var orders = target.orderBy
    if orders.last?.path.isDocumentID == true { orders.removeLast() }
    return line(
      Query(
        path: target.path, collectionGroup: target.collectionGroup, filters: target.filters, explicitOrderBy: orders,
        limit: target.limit))
  }
}

/// The sections about the streams and their owners.
extension InsideTable {
  /// - Parameter now: the time to which ages are relative.
  package static func streams(of inside: ClientInside, at now: Timestamp) -> InsideTable {
    var table = InsideTable(columns: [
      Column(title: "stream", isFlexible: true), Column(title: "state"), Column(title: "silent", isNumber: true),
      Column(title: "age", isNumber: true, rank: 2), Column(title: "begun", isNumber: true, rank: 3),
      Column(title: "sent", isNumber: true), Column(title: "received", isNumber: true),
    ])
    table.rows = inside.streams.map { stream in
      let isOpen = stream.status.state == .open
      let silence = stream.heardAt.map { now.wholeSeconds(since: $0) }
      let age = stream.since.map { TimeText.elapsed(seconds: now.wholeSeconds(since: $0)) }
      return Row(
        cells: [
          stream.kind.rawValue, stream.status.state.words(at: now),
          isOpen ? silence.map { TimeText.elapsed(seconds: $0) } ?? "" : "", isOpen ? age ?? "" : "",
          grouped(stream.begun), amount(stream.messagesSent, stream.bytes?.sent),
          amount(stream.messagesReceived, stream.bytes?.received),
        ],
        isNotable: stream.status.lastError != nil, subject: .stream(stream.kind), detail: detail(stream))
    }
    table.rows.append(row(inside.connection, at: now))
    if inside.streams.allSatisfy({ $0.bytes == nil }) {
      table.notes.append("only messages are counted, not bytes: the server is in this process")
    } else {
      table.notes.append("messages and their bytes, without HTTP/2 and TLS overhead")
    }
    return table
  }

  /// A row about the whole connection, with the time until the next connection attempt.
  private static func row(_ connection: ConnectionState, at now: Timestamp) -> Row {
    let word =
      switch connection.online {
      case .online: "online"
      case .offline: "offline"
      case .unknown: "not known"
      }
    let next = connection.nextAttempt.map { ", tries in \(TimeText.countdown(to: $0, from: now))" } ?? ""
    return Row(
      cells: [
        "(client)", word + next, "", TimeText.elapsed(seconds: now.wholeSeconds(since: connection.since)), "", "", "",
      ],
      isNotable: connection.reason?.isFailure ?? false,
      detail: connection.reason.map { "not online: \($0)" } ?? "results are in sync with the server")
  }

  private static func amount(_ messages: Int, _ bytes: Int?) -> String {
    grouped(messages) + (bytes.map { " \(ByteText.short($0))" } ?? "")
  }

  private static func detail(_ stream: StreamUse) -> String {
    if let error = stream.status.lastError { return "last failure: \(error)" }
    if let limit = stream.longestSilence {
      return "closed after \(TimeText.span(limit)) without a message while something is watched"
    }
    return stream.kind == .watch
      ? "delivers the results of listeners" : "sends writes to the server; closed a minute after the last write"
  }

  /// - Parameter now: the time to which ages are relative.
  package static func lease(of inside: ClientInside, at now: Timestamp) -> InsideTable {
    var table = InsideTable(columns: [
      Column(title: "process", isFlexible: true), Column(title: "lease"), Column(title: "network"),
      Column(title: "screen", rank: 1), Column(title: "seen", isNumber: true),
    ])
    table.empty = "only this client uses the cache and the streams"
    guard let peers = inside.peers else { return table }
    table.rows = peers.members.map { member in
      Row(
        cells: [
          (member.process.map { "\($0)" } ?? "unknown") + (member.isSelf ? " (this client)" : ""),
          member.hasLease ? "has it" : "", member.usesNetwork ? "on" : "off", member.isVisible ? "visible" : "",
          TimeText.elapsed(seconds: now.wholeSeconds(since: member.seen)),
        ], isNotable: member.hasLease)
    }
    table.notes = [
      peers.renewed.map { "renewed \(TimeText.elapsed(seconds: now.wholeSeconds(since: $0))) ago" }
        ?? "no client has the lease now",
      "the lease holder listens and writes for all clients of the cache",
    ]
    return table
  }
}

extension StreamStatus.State {
  fileprivate func words(at now: Timestamp) -> String {
    switch self {
    case .closed: "closed"
    case .opening: "opening"
    case .open: "open"
    case .backoff(let end): "retry in \(TimeText.countdown(to: end, from: now))"
    }
  }
}

/// The cost of the targets' reads in Cloud Firestore. For other backends, the cost that these reads would have in Cloud
/// Firestore.
extension InsideTable {
  package static func bill(of inside: ClientInside, _ context: InsideContext) -> InsideTable {
    let price = context.settings.price
    var table = InsideTable(columns: [
      Column(title: "listener", isFlexible: true), Column(title: "reads", isNumber: true),
      Column(title: "a minute", isNumber: true, rank: 1), Column(title: "cost", isNumber: true),
      Column(title: "saved", isNumber: true, rank: 2), Column(title: "after 30 min", isNumber: true, rank: 3),
    ])
    var (reads, minute, kept, anew) = (0, 0, 0, 0)
    for target in inside.targets {
      let rate = context.lastMinute?[target.target]
      (reads, minute) = (reads + target.sent, minute + (rate ?? 0))
      (kept, anew) = (kept + target.kept, anew + target.readsAnew)
      table.rows.append(
        Row(
          cells: [
            QueryText.line(target.target), grouped(target.sent), rate.map(grouped) ?? "?", price.text(of: target.sent),
            grouped(target.kept), grouped(target.readsAnew),
          ],
          subject: target.target.isDocumentTarget
            ? .document(DocumentKey(unchecked: target.target.path))
            : target.target.collectionGroup == nil ? .collection(target.target.path) : nil,
          detail: "\(price.text(of: target.sent)) so far; \(price.text(of: target.kept)) saved by the cache and its "
            + "resume token; back after more than 30 minutes offline: \(price.text(of: target.readsAnew))"))
    }
    table.empty = "no target: no listener is open, and nothing is read"
    guard !table.rows.isEmpty else { return table }
    table.rows.append(
      Row(
        cells: [
          "all", grouped(reads), context.lastMinute == nil ? "?" : grouped(minute), price.text(of: reads),
          grouped(kept), grouped(anew),
        ],
        isNotable: true,
        detail: "saved: \(price.text(of: kept)); after more than 30 minutes offline: \(price.text(of: anew))"))
    if inside.targetCount > inside.targets.count {
      table.notes.append("the first \(inside.targets.count) of \(grouped(inside.targetCount)) targets")
    }
    if !context.isBilled { table.notes.append("this server bills nothing: these are Cloud Firestore's prices") }
    table.notes.append(price.assumption)
    table.notes.append("reads of current targets; not counts, writes, deletes, storage, the network, or the free quota")
    return table
  }
}
