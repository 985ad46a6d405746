// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel

/// The streams, and who has them.
extension InsideTable {
  /// - Parameter now: the time by which ages are told.
  package static func streams(of inside: ClientInside, at now: Timestamp) -> InsideTable {
    var table = InsideTable(columns: [
      Column(title: "STREAM", isFlexible: true), Column(title: "STATE"), Column(title: "SILENT", isNumber: true),
      Column(title: "AGE", isNumber: true, rank: 2), Column(title: "BEGUN", isNumber: true, rank: 3),
      Column(title: "SENT", isNumber: true), Column(title: "RECEIVED", isNumber: true),
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
      table.notes.append("messages are counted; they do not become bytes, because the server is in this process")
    } else {
      table.notes.append("messages and their bytes, without what HTTP/2 and TLS add")
    }
    return table
  }

  /// The connection as a whole, with the time until the next attempt.
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
      return "given up after \(TimeText.span(limit)) without a message while something is watched"
    }
    return stream.kind == .watch
      ? "brings what listeners show" : "takes writes to the server; closed a minute after the last"
  }

  /// - Parameter now: the time by which ages are told.
  package static func lease(of inside: ClientInside, at now: Timestamp) -> InsideTable {
    var table = InsideTable(columns: [
      Column(title: "PROCESS", isFlexible: true), Column(title: "LEASE"), Column(title: "NETWORK"),
      Column(title: "SCREEN", rank: 1), Column(title: "SEEN", isNumber: true),
    ])
    table.empty = "the cache is this client's alone, and the streams with it"
    guard let company = inside.company else { return table }
    table.rows = company.members.map { member in
      Row(
        cells: [
          (member.process.map { "\($0)" } ?? "unknown") + (member.isSelf ? " (this client)" : ""),
          member.hasLease ? "has it" : "", member.usesNetwork ? "on" : "off", member.isVisible ? "looked at" : "",
          TimeText.elapsed(seconds: now.wholeSeconds(since: member.seen)),
        ], isNotable: member.hasLease)
    }
    table.notes = [
      company.renewed.map { "renewed \(TimeText.elapsed(seconds: now.wholeSeconds(since: $0))) ago" }
        ?? "nobody has the lease now",
      "who has it watches and sends for all that share the cache",
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
    case .backoff(let end): "waits \(TimeText.countdown(to: end, from: now))"
    }
  }
}
