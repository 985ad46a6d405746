// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol

/// The current user's pending batches in order, with what happened to each so far. Mirrors the store's queue, so that
/// neither the pipeline nor the queue's display reads the store.
struct PendingWriteLog: Sendable {
  struct Entry: Sendable {
    let batch: MutationBatch
    var attempts = 0
    var lastError: RPCStatus?
    /// Size of the encoded batch; computed when somebody looks.
    var byteCount: Int?
    /// Acknowledged, rejected or cancelled; kept until everything before it has left too.
    fileprivate var hasLeft = false
  }

  /// Sorted by batch id; what is before `head` has left.
  private var entries: [Entry] = []
  private var head = 0
  private(set) var count = 0
  /// How many batches there were since the queue was last empty.
  private(set) var total = 0
  /// What is before this has been measured.
  private var measuredEnd = 0
  /// Of what is pending and measured.
  private var measuredBytes = 0

  init(_ batches: [MutationBatch] = []) {
    entries = batches.map { Entry(batch: $0) }
    count = batches.count
    total = count
  }

  var isEmpty: Bool { count == 0 }
  var first: BatchID? { entries[head...].first { !$0.hasLeft }?.batch.id }
  var last: BatchID? { entries[head...].last { !$0.hasLeft }?.batch.id }

  /// What is pending.
  var pending: [Entry] { entries[head...].filter { !$0.hasLeft } }

  /// What is pending, with sizes; of a queue longer than twice `ends` only so many at each end. O(ends + new batches).
  mutating func measured(ends: Int? = nil) -> [Entry] {
    measure()
    guard let ends, count > 2 * ends else { return pending }
    let first = entries[head...].lazy.filter { !$0.hasLeft }.prefix(ends)
    let last = entries[head...].lazy.reversed().filter { !$0.hasLeft }.prefix(ends)
    return Array(first) + Array(last).reversed()
  }

  /// Of all that is pending, encoded.
  mutating func byteCount() -> Int {
    measure()
    return measuredBytes
  }

  private mutating func measure() {
    for index in max(measuredEnd, head)..<entries.count where !entries[index].hasLeft {
      let size = entries[index].batch.encoded().count
      entries[index].byteCount = size
      measuredBytes += size
    }
    measuredEnd = entries.count
  }

  func contains(_ id: BatchID) -> Bool { position(of: id) != nil }

  func attempts(of id: BatchID) -> Int { position(of: id).map { entries[$0].attempts } ?? 0 }

  func next(after id: BatchID?) -> MutationBatch? {
    let start = id.map { id in firstPosition { $0 > id } } ?? head
    return entries[start...].first { !$0.hasLeft }?.batch
  }

  mutating func append(_ batch: MutationBatch) {
    entries.append(Entry(batch: batch))
    if count == 0 { total = 0 }
    count += 1
    total += 1
  }

  mutating func update(_ id: BatchID, _ change: (inout Entry) -> Void) {
    if let position = position(of: id) { change(&entries[position]) }
  }

  mutating func remove(_ id: BatchID) {
    guard let position = position(of: id) else { return }
    entries[position].hasLeft = true
    measuredBytes -= entries[position].byteCount ?? 0
    count -= 1
    while head < entries.count, entries[head].hasLeft { head += 1 }
    if head > 64, head * 2 > entries.count {
      entries.removeFirst(head)
      measuredEnd = max(0, measuredEnd - head)
      head = 0
    }
  }

  private func position(of id: BatchID) -> Int? {
    let position = firstPosition { $0 >= id }
    guard position < entries.count, entries[position].batch.id == id, !entries[position].hasLeft else { return nil }
    return position
  }

  private func firstPosition(where holds: (BatchID) -> Bool) -> Int {
    var (low, high) = (head, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if holds(entries[middle].batch.id) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
