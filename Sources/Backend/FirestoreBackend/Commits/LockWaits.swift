// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSQLite

/// The writes that wait until pessimistic transactions release the documents that they have read.
///
/// ```
/// T1  reads a ──────── commits c         readers share a lock
/// T2  reads a, commits a ┄┄┄┄┄┄┄► applied, or aborted if T1 wrote a
/// W   writes a ┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄► applied after both
/// ```
/// A transaction locks the documents that it looked up, and the documents that its queries match or would match after a
/// write. Nothing waits inside the backend: a write of a locked document throws `locked`, and its call tries again when
/// a transaction ends. A deadlock is detected when its last transaction begins to wait; the youngest transaction is
/// then aborted.
struct LockWaits {
  /// The transactions whose commits wait, each with the transactions that it waits for.
  private var blockers: [TransactionID: Set<TransactionID>] = [:]
  /// The calls that wait for the end of any transaction, in the order of their arrival.
  private var sleepers: [(number: Int, CheckedContinuation<Void, Never>)] = []
  private var lastNumber = 0
  /// The number of pessimistic transactions that had ended when the calls were last woken.
  fileprivate var seenEndings = 0

  var count: Int { sleepers.count }

  mutating func wait(_ id: TransactionID, for others: Set<TransactionID>) { blockers[id] = others }

  mutating func forget(_ id: TransactionID) { blockers[id] = nil }

  /// Removes the waiting commits of transactions that have ended.
  mutating func forget(except open: Set<TransactionID>) { blockers = blockers.filter { open.contains($0.key) } }

  /// The transactions of the deadlock that arises if this transaction waits for the other transactions; empty if no
  /// deadlock arises.
  func cycle(of id: TransactionID, waitingFor others: Set<TransactionID>) -> Set<TransactionID> {
    var (members, seen): (Set<TransactionID>, Set<TransactionID>) = ([], [])
    func reaches(_ next: TransactionID) -> Bool {
      if next == id { return true }
      guard seen.insert(next).inserted else { return members.contains(next) }
      var isMember = false
      for other in blockers[next] ?? [] where reaches(other) { isMember = true }
      if isMember { members.insert(next) }
      return isMember
    }
    for other in others { _ = reaches(other) }
    return members.isEmpty ? [] : members.union([id])
  }

  mutating func nextNumber() -> Int {
    lastNumber += 1
    return lastNumber
  }

  mutating func sleep(_ number: Int, _ continuation: CheckedContinuation<Void, Never>) {
    sleepers.append((number, continuation))
  }

  /// Wakes one call, if it still waits.
  mutating func wake(_ number: Int) {
    guard let index = sleepers.firstIndex(where: { $0.number == number }) else { return }
    sleepers.remove(at: index).1.resume()
  }

  mutating func wakeAll() {
    let woken = sleepers
    sleepers = []
    for (_, continuation) in woken { continuation.resume() }
  }
}

extension LocalBackend {
  /// The longest wait for locks, as in production.
  package static let lockPatience = Duration.seconds(15)

  /// The error of a write that must wait for a transaction. The write can be tried again after `lockRelease`.
  package static let locked = RPCStatus(.aborted, "Transaction lock timeout.")
  static let contention = RPCStatus(.aborted, "Too much contention on these documents. Please try again.")

  /// The number of calls that wait for locks.
  package var lockWaitCount: Int { lockWaits.count }

  /// The number of pessimistic transactions that have ended.
  package var lockEndings: Int { transactions.endings }

  /// Waits until another pessimistic transaction has ended, or until the timeout has passed.
  package func lockRelease(after endings: Int, within time: Duration) async {
    if transactions.endings != endings { return }
    let number = lockWaits.nextNumber()
    let timer = Task { [weak self] in
      // A cancelled timer has no effect: the call that it wakes no longer waits.
      try? await Task.sleep(for: time)
      await self?.wakeLockWait(number)
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { lockWaits.sleep(number, $0) }
    } onCancel: {
      timer.cancel()
    }
    timer.cancel()
  }

  private func wakeLockWait(_ number: Int) { lockWaits.wake(number) }

  /// Wakes the waiting calls if a pessimistic transaction has ended since they were last woken.
  func wakeLockWaits() {
    guard lockWaits.seenEndings != transactions.endings else { return }
    lockWaits.seenEndings = transactions.endings
    lockWaits.forget(except: transactions.pessimistic)
    lockWaits.wakeAll()
  }

  /// Whether a pessimistic transaction locks a document that the mutations write.
  func isLocked(_ mutations: [Mutation], in database: DatabaseID) -> Bool {
    !holders(of: mutations, in: database, except: nil).isEmpty
  }

  /// Checks that no other transaction locks a document that this transaction writes. In a deadlock, ends the youngest
  /// transaction.
  /// - Throws: `locked`; `contention` after ending this transaction.
  func takeLocks(of mutations: [Mutation], in database: DatabaseID, for id: TransactionID) throws(RPCStatus) {
    lockWaits.forget(id)
    while true {
      let others = holders(of: mutations, in: database, except: id)
      if others.isEmpty { return }
      let cycle = lockWaits.cycle(of: id, waitingFor: others)
      guard let victim = cycle.max(by: { $0.number < $1.number }) else {
        lockWaits.wait(id, for: others)
        throw Self.locked
      }
      transactions.abort(victim)
      lockWaits.forget(victim)
      wakeLockWaits()
      if victim == id { throw Self.contention }
    }
  }

  /// The transactions that lock a document which the mutations write.
  private func holders(
    of mutations: [Mutation], in database: DatabaseID, except id: TransactionID?
  ) -> Set<TransactionID> {
    if transactions.pessimistic.isEmpty { return [] }
    transactions.expire(at: log.clock.microseconds)
    return transactions.pessimistic.filter { other in
      guard other != id, let holder = transactions[other], holder.database == database else { return false }
      return mutations.contains { isLocked($0, by: holder) }
    }
  }

  private func isLocked(_ mutation: Mutation, by holder: OpenTransaction) -> Bool {
    if case .verify = mutation.operation { return false }
    if holder.keys[mutation.key] != nil { return true }
    let queries = holder.queries.filter { $0.query.covers(mutation.key.collection) }
    if queries.isEmpty { return false }
    // A document that cannot be read now is not locked; the commit reports the error.
    guard
      let before = try? log.read(holder.database, { reader throws(StoreError) in try reader.document(mutation.key) })
    else { return false }
    let after = mutation.outcome(for: before)
    return queries.contains { $0.query.holds(before) || $0.query.couldHold(after, transforming: mutation.transforms) }
  }
}

extension OpenTransaction {
  mutating func look(up documents: [DocumentKey], at version: Int64) {
    for key in documents where keys[key] == nil { keys[key] = version }
  }
}

extension Mutation {
  /// The document after the mutation, before its transforms.
  fileprivate func outcome(for before: Document) -> Document {
    var after = before
    switch operation {
    case .set(let fields): after.state = .found(DocumentData(fields))
    case .patch(let values, let mask):
      var fields = before.data?.fields ?? Fields()
      for path in mask.paths { fields[path] = values[path] }
      after.state = .found(DocumentData(fields))
    case .delete: after.state = .missing
    case .verify: break
    }
    return after
  }
}

extension ServedQuery {
  /// Whether a document could match once transforms have changed some of its fields.
  fileprivate func couldHold(_ document: Document, transforming transforms: [FieldTransform]) -> Bool {
    if holds(document) { return true }
    let named = Set(target.filters.flatMap(\.fieldFilters).map(\.path) + target.orderBy.map(\.path))
    return document.exists && transforms.contains { named.contains($0.path) }
  }
}
