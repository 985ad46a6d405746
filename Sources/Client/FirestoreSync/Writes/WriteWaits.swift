// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// Waits for pending writes, each for those that were pending when it began.
struct WriteWaits: Sendable {
  private var waits: [(highest: BatchID, wait: PendingWritesWait)] = []

  /// - Parameter highest: the last batch that is waited for.
  mutating func add(_ wait: PendingWritesWait, until highest: BatchID) { waits.append((highest, wait)) }

  /// Takes the waits that are over.
  /// - Parameter first: the first batch that is still pending; `nil` if none is.
  mutating func takeDone(before first: BatchID?) -> [PendingWritesWait] {
    let done = waits.filter { entry in first.map { entry.highest < $0 } ?? true }
    if let first { waits.removeAll { $0.highest < first } } else { waits = [] }
    return done.map(\.wait)
  }

  /// Takes all of them, since what they wait for will not come.
  mutating func takeAll() -> [PendingWritesWait] {
    defer { waits = [] }
    return waits.map(\.wait)
  }
}
