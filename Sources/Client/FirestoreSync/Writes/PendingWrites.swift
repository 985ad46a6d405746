// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol

/// The current user's pending batches in order, each with its state. It mirrors the queue in the store, so that sending
/// or showing the queue does not require reading the store.
///
///     first ─┬─ in flight ─┬─────── unsent ───────┬─ last        at most `capacity` in flight; the k-th response
///          head         sentEnd              entries.count       answers the k-th batch in flight (S4)
///
/// Batches are removed at the front. A canceled batch leaves a gap, which is removed as soon as it is at the front.
struct PendingWrites: Sendable {
  /// The maximum number of batches in flight (SDK remote_store: MAX_PENDING_WRITES).
  static let capacity = 10

  struct Entry: Sendable {
    package let batch: MutationBatch
    /// The number of attempts to send the batch since this client started.
    fileprivate(set) var attempts = 0
    /// The error of the last failed attempt to send the batch.
    fileprivate(set) var lastError: RPCStatus?
    /// The time at which the batch was last sent.
    fileprivate(set) var sentAt: Timestamp?
    /// The size of the encoded batch; `nil` until it is measured.
    fileprivate(set) var byteCount: Int?
    fileprivate var hasLeft = false
  }

  /// The batches, in ascending order of their ids. Entries before `head` have left the queue.
  private var entries: [Entry] = []
  private var head = 0
  /// The position after the last entry that was sent on the current stream.
  private var sentEnd = 0
  private(set) var count = 0
  /// The number of batches that were added since the queue was last empty.
  private(set) var total = 0
  private(set) var inFlightCount = 0
  /// The newest batch that this queue has ever contained.
  private(set) var newest: BatchID?
  /// The newest token of the current stream; `nil` until the backend has answered the stream's handshake.
  private var streamToken: [UInt8]?
  /// The position after the last entry whose size was measured.
  private var measuredEnd = 0
  private var measuredBytes = 0

  init(_ batches: [MutationBatch] = []) {
    entries = batches.map { Entry(batch: $0) }
    count = batches.count
    total = count
    newest = batches.last?.id
  }

  var isEmpty: Bool { count == 0 }
  var first: BatchID? { pending.first?.batch.id }
  var last: BatchID? { entries[head...].last { !$0.hasLeft }?.batch.id }

  var pending: some Collection<Entry> { entries[head...].lazy.filter { !$0.hasLeft } }

  /// The batches in flight and the batches that will be sent next.
  var pipeline: [Entry] { Array(pending.prefix(Self.capacity)) }

  /// Whether the batch is newer than every batch that has ever been in this queue.
  func isNew(_ id: BatchID) -> Bool { newest.map { $0 < id } ?? true }

  func contains(_ id: BatchID) -> Bool { position(of: id) != nil }
  func isInFlight(_ id: BatchID) -> Bool { position(of: id).map { $0 < sentEnd } ?? false }
  func attempts(of id: BatchID) -> Int { position(of: id).map { entries[$0].attempts } ?? 0 }

  // MARK: Changing the queue

  /// - Precondition: the batch's id is higher than all ids that have been in the queue (S4).
  mutating func append(_ batch: MutationBatch) {
    precondition(isNew(batch.id), "batch \(batch.id) is out of order")
    entries.append(Entry(batch: batch))
    newest = batch.id
    if count == 0 { total = 0 }
    count += 1
    total += 1
  }

  /// - Returns: the removed entry; `nil` if the batch is not pending.
  @discardableResult
  mutating func remove(_ id: BatchID) -> Entry? {
    guard let position = position(of: id) else { return nil }
    let entry = entries[position]
    entries[position].hasLeft = true
    measuredBytes -= entry.byteCount ?? 0
    count -= 1
    if position < sentEnd { inFlightCount -= 1 }
    while head < entries.count, entries[head].hasLeft { head += 1 }
    sentEnd = max(sentEnd, head)
    if head > 64, head * 2 > entries.count {
      entries.removeFirst(head)
      measuredEnd = max(0, measuredEnd - head)
      sentEnd -= head
      head = 0
    }
    return entry
  }

  // MARK: Sending

  /// Whether `take` would return a batch.
  var hasUnsent: Bool { streamToken != nil && inFlightCount < min(count, Self.capacity) }

  /// Records that the backend answered the handshake.
  mutating func streamOpened(token: [UInt8]) { streamToken = token }

  /// Returns the next batch to send, and marks it as in flight.
  mutating func take(at now: Timestamp) -> (batch: MutationBatch, request: WriteRequest)? {
    guard let streamToken, inFlightCount < Self.capacity,
      let position = entries[sentEnd...].firstIndex(where: { !$0.hasLeft })
    else { return nil }
    entries[position].attempts += 1
    entries[position].sentAt = now
    sentEnd = position + 1
    inFlightCount += 1
    let batch = entries[position].batch
    return (batch, WriteRequest(streamToken: streamToken, mutations: batch.mutations))
  }

  /// The batch to which the next response belongs (S4); `nil` if no batch is in flight.
  var oldestInFlight: MutationBatch? { inFlightCount > 0 ? pending.first?.batch : nil }

  /// Records the token of a response.
  mutating func answered(token: [UInt8]) { streamToken = token }

  /// Records that the stream has ended. Batches without a response will be sent again on the next stream.
  mutating func streamClosed() { (sentEnd, inFlightCount, streamToken) = (head, 0, nil) }

  /// Records the error of an attempt to send a batch. If the id is `nil`, records it for all batches in `pipeline`.
  mutating func note(_ error: RPCStatus, of id: BatchID? = nil) {
    for id in id.map({ [$0] }) ?? pipeline.map(\.batch.id) {
      if let position = position(of: id) { entries[position].lastError = error }
    }
  }

  // MARK: Showing

  /// The pending batches with their sizes. If the queue has more than twice `ends` batches, the result contains only
  /// `ends` batches from each end. Takes O(ends + new batches) time.
  mutating func measured(ends: Int? = nil) -> [Entry] {
    measure()
    guard let ends, count > 2 * ends else { return Array(pending) }
    let last = entries[head...].lazy.reversed().filter { !$0.hasLeft }.prefix(ends)
    return Array(pending.prefix(ends)) + Array(last).reversed()
  }

  /// The encoded size of all pending batches.
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

  /// - Returns: `nil` if the batch is not pending. Takes O(log n) time.
  private func position(of id: BatchID) -> Int? {
    let index = (head..<entries.count).partitioningIndex { entries[$0].batch.id >= id }
    return index < entries.count && entries[index].batch.id == id && !entries[index].hasLeft ? index : nil
  }
}

/// The calls that wait for pending writes. Each call waits for the writes that were pending when it began.
struct WriteWaits: Sendable {
  private var waits: [(highest: BatchID, wait: PendingWritesWait)] = []

  /// - Parameter highest: the last batch to wait for.
  mutating func add(_ wait: PendingWritesWait, until highest: BatchID) { waits.append((highest, wait)) }

  /// Removes and returns the finished waits.
  /// - Parameter first: the first batch that is still pending; `nil` if no batch is pending.
  mutating func takeDone(before first: BatchID?) -> [PendingWritesWait] {
    let done = waits.filter { entry in first.map { entry.highest < $0 } ?? true }
    if let first { waits.removeAll { $0.highest < first } } else { waits = [] }
    return done.map(\.wait)
  }

  /// Removes and returns all waits, because their writes will not be answered.
  mutating func takeAll() -> [PendingWritesWait] {
    defer { waits = [] }
    return waits.map(\.wait)
  }
}
