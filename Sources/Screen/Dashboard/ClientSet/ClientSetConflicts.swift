// SPDX-License-Identifier: Apache-2.0
import ClientPort
import DashboardModel
import FirestoreClientState
import FirestoreModel

/// Detects conflicts between the clients on a screen. Each client reports its own writes. Only proven conflicts are
/// reported. This type has no side effects.
struct ClientSetConflicts: Sendable {
  /// A conflict, as reported to one of its two clients.
  struct Report: Sendable {
    var client: ClientNumber
    var conflict: ClientConflict
  }

  /// A write that the server applied.
  private struct Applied {
    var client: ClientNumber
    var batch: BatchID
    var mutation: Mutation
    var commitTime: SnapshotVersion
    /// The time of the server's response.
    var answered: Timestamp
  }

  /// A conflict for which only one of the two writes is known so far.
  private struct Open {
    var client: ClientNumber
    var conflict: WriteConflict
  }

  /// The maximum count of stored writes per document, and the maximum count of documents with stored writes.
  private static let (mostWrites, mostDocuments) = (8, 500)
  /// The maximum count of conflicts for which the second write is not yet reported.
  private static let mostOpen = 32

  /// Whether the time between two writes is the time between their answers on the screen. The clock of a simulated
  /// server stands still while the screen waits.
  var measuresAnswers = false

  private var applied: [DocumentKey: [Applied]] = [:]
  /// The documents of `applied`, in the order of their newest writes, newest last.
  private var order: [DocumentKey] = []
  private var open: [Open] = []

  /// Processes a client's event.
  /// - Parameter name: the name of a client that still exists.
  mutating func note(
    _ event: ClientEvent, of client: ClientNumber, at time: Timestamp, _ name: (ClientNumber) -> String?
  ) -> [Report] {
    switch event {
    case .answered(let write) where write.commitTime != nil:
      note(write, of: client, at: time)
      return settleOpen(name)
    case .answered(let write): return refused(write, of: client, at: time, name)
    case .conflict(let conflict):
      open = (open + [Open(client: client, conflict: conflict)]).suffix(Self.mostOpen)
      return settleOpen(name)
    default: return []
    }
  }

  /// Drops the data of a client that has ended, because its name can be reused.
  mutating func forget(_ client: ClientNumber) {
    for key in order { applied[key]?.removeAll { $0.client == client } }
    open.removeAll { $0.client == client }
  }

  private mutating func note(_ write: AnsweredWrite, of client: ClientNumber, at time: Timestamp) {
    guard let commitTime = write.commitTime else { return }
    for mutation in write.mutations where mutation.operation != .verify {
      let known = applied[mutation.key] ?? []
      order.removeAll { $0 == mutation.key }
      order.append(mutation.key)
      let new = Applied(
        client: client, batch: write.batch, mutation: mutation, commitTime: commitTime, answered: time)
      applied[mutation.key] = (known + [new]).suffix(Self.mostWrites)
    }
    while order.count > Self.mostDocuments { applied[order.removeFirst()] = nil }
  }

  // MARK: A later write that replaced values

  private mutating func settleOpen(_ name: (ClientNumber) -> String?) -> [Report] {
    var reports: [Report] = []
    var left: [Open] = []
    for conflict in open {
      if let found = earlier(than: conflict) {
        reports += self.reports(of: conflict, found.write, found.fields, name)
      } else {
        left.append(conflict)
      }
    }
    open = left
    return reports
  }

  /// The other client's write that the conflicting write overwrote, and the overwritten fields.
  private func earlier(than open: Open) -> (write: Applied, fields: [WriteConflict.Field])? {
    let conflict = open.conflict
    let before = (applied[conflict.key] ?? []).filter { $0.commitTime < conflict.commitTime }
    // The newest write determines the server's values. An older write determines only the fields that newer writes did
    // not change.
    guard let newest = before.max(by: { $0.commitTime < $1.commitTime }), newest.client != open.client else {
      return nil
    }
    let fields = conflict.fields.filter { newest.mutation.leaves($0.theirs, at: $0.path) }
    return fields.isEmpty ? nil : (newest, fields)
  }

  private func time(from earlier: Applied, to open: Open) -> Duration {
    let conflict = open.conflict
    let later = applied[conflict.key]?.first { $0.client == open.client && $0.batch == conflict.batch }
    if measuresAnswers, let later { return .milliseconds(max(0, later.answered.milliseconds(since: earlier.answered))) }
    return .microseconds(
      max(0, conflict.commitTime.timestamp.microseconds &- earlier.commitTime.timestamp.microseconds))
  }

  private func reports(
    of open: Open, _ earlier: Applied, _ fields: [WriteConflict.Field], _ name: (ClientNumber) -> String?
  ) -> [Report] {
    guard let one = name(open.client), let other = name(earlier.client) else { return [] }
    let conflict = open.conflict
    let outcome = ClientConflict.Outcome.replaced(fields, after: time(from: earlier, to: open))
    return [
      Report(
        client: open.client,
        conflict: ClientConflict(
          key: conflict.key, other: other, batch: conflict.batch, isLater: true, outcome: outcome)),
      Report(
        client: earlier.client,
        conflict: ClientConflict(
          key: conflict.key, other: one, batch: earlier.batch, isLater: false, outcome: outcome)),
    ]
  }

  // MARK: A later write that was refused

  /// The reports about a rejected write. Empty unless the rejection was caused by another client's newest write to the
  /// document.
  private func refused(
    _ write: AnsweredWrite, of client: ClientNumber, at time: Timestamp, _ name: (ClientNumber) -> String?
  ) -> [Report] {
    guard let code = write.refusal else { return [] }
    for mutation in write.mutations {
      guard let newest = applied[mutation.key]?.max(by: { $0.commitTime < $1.commitTime }), newest.client != client,
        let effect = mutation.refusingEffect(
          of: newest.mutation, existed: write.existed[mutation.key], refusedWith: code),
        let one = name(client), let other = name(newest.client)
      else { continue }
      let after = Duration.milliseconds(time.milliseconds(since: newest.answered))
      let outcome = ClientConflict.Outcome.refused(code, effect, after: after)
      return [
        Report(
          client: client,
          conflict: ClientConflict(
            key: mutation.key, other: other, batch: write.batch, isLater: true, outcome: outcome)),
        Report(
          client: newest.client,
          conflict: ClientConflict(
            key: mutation.key, other: one, batch: newest.batch, isLater: false, outcome: outcome)),
      ]
    }
    return []
  }
}

extension Mutation {
  /// Whether the field at a path has this value after the mutation. A value of `nil` means that the field does not
  /// exist.
  fileprivate func leaves(_ value: Value?, at path: FieldPath) -> Bool {
    // The mutation does not determine a value that the server computes.
    if transforms.contains(where: { $0.path == path }) { return value != nil }
    switch operation {
    case .set(let fields): return fields[path] == value
    case .patch(let fields, let mask): return mask.paths.contains(path) && fields[path] == value
    case .delete: return value == nil
    case .verify: return false
    }
  }

  /// The effect of an earlier mutation of the same document, if this mutation was rejected because of that effect.
  /// - Parameter existed: whether the document existed for the client that wrote this mutation; `nil` if unknown.
  fileprivate func refusingEffect(
    of earlier: Mutation, existed: Bool?, refusedWith code: StatusCode
  ) -> WrittenDocument.Effect? {
    guard let effect = WrittenDocument.Effect(earlier) else { return nil }
    switch (precondition, existed) {
    case (.exists(true), true?) where effect == .deleted && [.notFound, .failedPrecondition].contains(code):
      return .deleted
    case (.exists(false), false?) where effect != .deleted && [.alreadyExists, .failedPrecondition].contains(code):
      return .created
    case (.updateTime, true?) where [.failedPrecondition, .aborted, .notFound].contains(code): return effect
    default: return nil
    }
  }
}
