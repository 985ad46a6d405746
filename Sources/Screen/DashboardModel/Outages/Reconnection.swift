// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The outcome of an outage: shown in the row of the feed that ends it, and updated until all pending batches are
/// answered and every listener has caught up.
package struct Reconnection: Sendable {
  /// The largest number of caught-up documents that are listed.
  static let mostListed = 500

  /// The id of the feed's row.
  package let row: Int
  package let start: Timestamp
  package let end: Timestamp
  /// The newest batch that was pending; later ones do not count.
  package let newest: BatchID?
  /// The number of batches that were pending.
  package var waited: Int
  /// The listeners that have not caught up.
  package var behind: Set<ListenerTag>
  package let listeners: Int
  package private(set) var acknowledged = 0
  private(set) var lastAnswer: Timestamp?
  package private(set) var rejected: [(batch: BatchID, key: DocumentKey?, status: RPCStatus)] = []
  package private(set) var conflicts: [WriteConflict] = []
  private(set) var caughtUp: Set<DocumentKey> = []

  package init(
    row: Int, from start: Timestamp, to end: Timestamp, waited: Int, newest: BatchID?, listeners: Set<ListenerTag>
  ) {
    self.row = row
    self.start = start
    self.end = end
    self.waited = waited
    self.newest = newest
    behind = listeners
    self.listeners = listeners.count
  }

  private func waited(_ batch: BatchID) -> Bool { newest.map { batch <= $0 } ?? false }

  package mutating func noteAcknowledged(_ batch: BatchID, at now: Timestamp) {
    guard waited(batch), acknowledged + rejected.count < waited else { return }
    acknowledged += 1
    lastAnswer = now
  }

  package mutating func noteRejected(_ batch: BatchID, _ key: DocumentKey?, _ status: RPCStatus, at now: Timestamp) {
    guard waited(batch), !rejected.contains(where: { $0.batch == batch }) else { return }
    rejected.append((batch, key, status))
    lastAnswer = now
  }

  /// Notes a batch that was cancelled, and so gets no answer.
  package mutating func noteCancelled(_ batch: BatchID) { if waited(batch) { waited = max(0, waited - 1) } }

  package mutating func note(_ conflict: WriteConflict) { if waited(conflict.batch) { conflicts.append(conflict) } }

  /// Notes a listener that was stopped, and so does not catch up.
  package mutating func forget(_ listener: ListenerTag) { behind.remove(listener) }

  /// - Parameter keys: the documents that other clients changed.
  package mutating func noteSnapshot(of listener: ListenerTag, _ keys: some Sequence<DocumentKey>, isFromCache: Bool) {
    guard behind.contains(listener) else { return }
    caughtUp.formUnion(keys)
    if !isFromCache { behind.remove(listener) }
  }

  /// The text of the row: `online 12:05:02 after 0:42 · 7 writes in 1.2 s · 17 documents caught up · 1 rejected`.
  package func text(clock: String, bullet: String) -> String {
    var parts = ["online \(clock) after \(TimeText.elapsed(seconds: end.wholeSeconds(since: start)))"]
    let answered = acknowledged + rejected.count
    if waited > 0 {
      let isUnderWay = answered > 0 && answered < waited
      let figure = isUnderWay ? "\(grouped(answered)) of \(grouped(waited))" : grouped(waited)
      let time = lastAnswer.map { " in " + Self.text(milliseconds: $0.milliseconds(since: end)) } ?? ""
      parts.append("\(figure) write\(waited == 1 ? "" : "s")\(answered > 0 ? " answered" + time : " to send")")
    }
    if listeners > 0 {
      parts.append("\(grouped(caughtUp.count)) document\(caughtUp.count == 1 ? "" : "s") caught up")
      if !behind.isEmpty { parts.append("\(behind.count) listener\(behind.count == 1 ? "" : "s") behind") }
    }
    if !rejected.isEmpty { parts.append("\(grouped(rejected.count)) rejected") }
    let count = Set(conflicts.map(\.batch)).count
    if count > 0 { parts.append("\(grouped(count)) conflicting") }
    return parts.joined(separator: " \(bullet) ")
  }

  /// A duration such as `184 ms`, `1.2 s` or `2:05`.
  private static func text(milliseconds: Int64) -> String {
    switch milliseconds {
    case ..<1000: "\(max(0, milliseconds)) ms"
    case ..<60_000: "\(milliseconds / 1000).\(milliseconds % 1000 / 100) s"
    default: TimeText.elapsed(seconds: milliseconds / 1000)
    }
  }
}
