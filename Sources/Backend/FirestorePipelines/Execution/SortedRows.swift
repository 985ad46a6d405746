// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// Sorted rows. As in queries, equal rows are sorted by name in the direction of the last key. Equal rows without names
/// keep their order.
struct SortedRows: RowSource {
  typealias Keys = @Sendable (Row) throws(EvaluationError) -> [Value?]

  private struct Entry {
    let row: Row
    let keys: [Value?]
    let place: Int
    let bytes: Int
  }

  /// The number of rows that are sorted in one step, within a few milliseconds, and then merged.
  private static let atOnce = 2_048

  private var input: Inflow
  private let run: PipelineRun
  private let subqueries: [Subquery]
  private let isDescending: [Bool]
  /// The number of rows that later stages use; `nil` for all.
  private let limit: Int?
  private let keys: Keys
  private let holding: Holding
  private var held: HeldRows?

  init(
    _ stage: String, _ input: any RowSource, _ run: PipelineRun, subqueries: [Subquery] = [], isDescending: [Bool],
    limit: Int?, keys: @escaping Keys
  ) {
    self.input = Inflow(input, into: stage, run.context.work)
    holding = Holding(stage, run.context.work)
    (self.run, self.subqueries, self.isDescending) = (run, subqueries, isDescending)
    (self.limit, self.keys) = (limit, keys)
  }

  mutating func next() async throws(RPCStatus) -> [Row]? {
    if held == nil { held = HeldRows(try await sort(), holding) }
    return held?.take()
  }

  private mutating func sort() async throws(RPCStatus) -> [Row] {
    var (entries, place) = ([Entry](), 0)
    while limit != 0, var row = try await input.next() {
      let keys = try await run.evaluate(row, subqueries, keys)
      let bytes = row.heldBytes + keys.reduce(0) { $0 + ($1?.memorySize ?? 1) }
      // Holds up to twice the limit, so that each row is sorted about twice.
      if let limit, entries.count / 2 - 32 >= limit { entries = try await first(limit, of: entries) }
      if !holding.takes(bytes) {
        if let limit, entries.count > limit { entries = try await first(limit, of: entries) }
        try holding.add(bytes)
      }
      entries.append(Entry(row: row, keys: keys, place: place, bytes: bytes))
      place += 1
    }
    input.end()
    return try await first(limit ?? entries.count, of: entries).map { entry in
      var row = entry.row
      // Only the row is held from here on, without its keys.
      holding.remove(entry.bytes - row.heldBytes)
      return row
    }
  }

  /// Sorts the entries and selects the first ones; releases the memory of the others.
  private func first(_ count: Int, of entries: [Entry]) async throws(RPCStatus) -> [Entry] {
    let order = try await order(of: entries)
    for place in order.dropFirst(count) { holding.remove(entries[place].bytes) }
    return order.prefix(count).map { entries[$0] }
  }

  /// The indices of the entries in their order (merge sort).
  private func order(of entries: [Entry]) async throws(RPCStatus) -> [Int] {
    let work = run.context.work
    var (order, width) = (Array(entries.indices), Self.atOnce)
    for start in stride(from: 0, to: order.count, by: width) {
      var isOver = false
      order[start..<min(start + width, order.count)].sort { left, right in
        // Once the caller has left, comparisons are skipped.
        if isOver { return false }
        isOver = !work.goesOn()
        return !isOver && precedes(entries[left], entries[right])
      }
      try await work.step()
    }
    while width < order.count {
      var merged: [Int] = []
      merged.reserveCapacity(order.count)
      for start in stride(from: 0, to: order.count, by: 2 * width) {
        let (middle, end) = (min(start + width, order.count), min(start + 2 * width, order.count))
        var (left, right) = (start, middle)
        while left < middle || right < end {
          try await work.step()
          let takesRight = left == middle || right < end && precedes(entries[order[right]], entries[order[left]])
          merged.append(order[takesRight ? right : left])
          if takesRight { right += 1 } else { left += 1 }
        }
      }
      (order, width) = (merged, 2 * width)
    }
    return order
  }

  private func precedes(_ left: Entry, _ right: Entry) -> Bool {
    for index in isDescending.indices {
      let order = Self.compare(left.keys[index], right.keys[index])
      if order != .equal { return (order == .ascending) != isDescending[index] }
    }
    if let left = left.row.key, let right = right.row.key, left != right {
      return (left < right) != (isDescending.last ?? false)
    }
    return left.place < right.place
  }

  /// Compares two values. An absent value sorts first.
  private static func compare(_ left: Value?, _ right: Value?) -> Ordering {
    switch (left, right) {
    case (let left?, let right?): left.compare(right, .byNumber)
    case (nil, nil): .equal
    case (nil, _): .ascending
    case (_, nil): .descending
    }
  }
}
