// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreJSON
import FirestoreModel

extension DashboardState {
  /// Sends the chosen rejected writes again; without one, skips the wait before the next attempt.
  mutating func sendNow() -> [Effect] {
    let rejected = writes.chosen.filter(\.isRejected).map(\.batch)
    guard !rejected.isEmpty else { return [.client(.retryNow)] }
    writes.marked = []
    if network.isOffline { toast(.info, "you are offline: it waits in the queue") }
    return rejected.map { .client(.resend($0)) }
  }

  func editRejectedWrite() -> [Effect] {
    guard let row = writes.selected, row.isRejected else { return [] }
    let text = WriteJSON.text(of: row.write.mutations, relativeTo: configuration.database)
    return [.terminal(.edit(EditRequest(.rejectedWrite(row.batch), text: text)))]
  }

  /// Says in the feed what can no longer be sent again.
  mutating func forget(_ batches: [BatchID]) {
    guard let first = batches.first else { return }
    let more = batches.count > 1 ? " and \(grouped(batches.count - 1)) more" : ""
    feed.append(
      FeedRow(
        time: now, kind: .failed, summary: "rejected \(first)\(more) forgotten: no more rejected writes are kept"))
    rate.note(1, at: now)
  }

  /// Marks the selected write, or takes its mark away, and goes on to the next.
  mutating func markWrite() {
    guard let id = writes.selected?.batch else { return }
    if writes.marked.remove(id) == nil { writes.marked.insert(id) }
    writes.cursor.move(by: 1, in: writes.rows.map(\.batch))
  }

  mutating func askToCancelWrites() {
    let waiting = writes.chosen.filter { !$0.isFinished && $0.write.state != .inFlight }
    ask(toCancel: waiting, toDrop: writes.chosen.filter(\.isRejected))
  }

  mutating func askToDropAllRejected() { ask(toCancel: [], toDrop: writes.rejected) }

  private mutating func ask(toCancel waiting: [QueueRow], toDrop rejected: [QueueRow]) {
    let rows = waiting + rejected
    guard !rows.isEmpty else { return }
    let verb = rejected.isEmpty ? "Cancel" : waiting.isEmpty ? "Drop" : "Cancel or drop"
    let what = (waiting.isEmpty ? "rejected " : "") + "write"
    var body = rows.prefix(4).map { "\($0.batch) \($0.operation.rawValue) \($0.documents.first?.path.text ?? "")" }
    if rows.count > 4 { body.append("and \(grouped(rows.count - 4)) more") }
    if !waiting.isEmpty { body.append("Its local effect is undone. It will never be sent.") }
    if !rejected.isEmpty { body.append("What was rejected cannot be sent again after that.") }
    let title = rows.count == 1 ? "\(verb) \(what)" : "\(verb) \(grouped(rows.count)) \(what)s"
    overlay = .confirm(
      Confirmation(
        title: title, body: body, action: rows.count == 1 ? "\(verb) write" : "\(verb) writes",
        subject: .takeBack(waiting.map(\.batch), rejected.map(\.batch))))
  }
}
