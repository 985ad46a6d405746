// SPDX-License-Identifier: Apache-2.0
import FirestoreSQLite

/// Numbers the batches of all users: ascending, also across restarts, and none is used twice (S4). The last one is the
/// highest that waits, or is stored when that leaves the queue.
final class BatchNumbers {
  private let connection: Connection
  private let globals: Globals
  /// The last number given; `nil` until it has been looked up.
  private var last: Int64?

  init(_ connection: Connection, _ globals: Globals) {
    self.connection = connection
    self.globals = globals
  }

  /// - Precondition: inside a transaction that stores a batch under this number.
  func next() throws(StoreError) -> Int64 {
    let number = try lookedUp() + 1
    last = number
    return number
  }

  /// A batch leaves the queue.
  func settled(_ number: Int64) throws(StoreError) {
    // As long as the last batch waits, its row tells its number.
    if try number == lookedUp() { try globals.set(.highestSettledBatch, number) }
  }

  /// Looks the last number up again, because the transaction that gave it may have been undone.
  func forget() { last = nil }

  private func lookedUp() throws(StoreError) -> Int64 {
    if let last { return last }
    let waiting = try connection.integer("SELECT max(id) FROM mutation_batches") ?? 0
    guard StoredNumbers.counters.contains(waiting) else { throw StoredNumbers.damage("a batch's number", waiting) }
    let number = max(waiting, try globals.value(.highestSettledBatch) ?? 0)
    last = number
    return number
  }
}
