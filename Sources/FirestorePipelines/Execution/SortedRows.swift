// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// Rows in an order; equal ones in that of their names, in the direction of the last key, as queries have them; those
/// without names as they came.
struct SortedRows: RowSource {
  typealias Keys = @Sendable (Row) throws(EvaluationError) -> [Value?]

  private struct Entry {
    let row: Row
    let keys: [Value?]
    let place: Int
  }

  private let stage: String
  private var input: any RowSource
  private let run: PipelineRun
  private let subqueries: [Subquery]
  private let isDescending: [Bool]
  /// How many of the first ones are wanted.
  private let limit: Int?
  private let keys: Keys
  private var held: HeldRows?

  init(
    _ stage: String, _ input: any RowSource, _ run: PipelineRun, subqueries: [Subquery] = [], isDescending: [Bool],
    limit: Int?, keys: @escaping Keys
  ) {
    (self.stage, self.input, self.run, self.subqueries) = (stage, input, run, subqueries)
    (self.isDescending, self.limit, self.keys) = (isDescending, limit, keys)
  }

  mutating func next() async throws(RPCStatus) -> [Row]? {
    if held == nil { held = HeldRows(try await sort()) }
    return held?.take()
  }

  private mutating func sort() async throws(RPCStatus) -> [Row] {
    var (entries, place, bytes) = ([Entry](), 0, 0)
    while limit != 0, let rows = try await input.next() {
      for row in rows {
        let row = subqueries.isEmpty ? row : try await run.answered(row, subqueries)
        do throws(EvaluationError) {
          entries.append(Entry(row: row, keys: try keys(row), place: place))
        } catch { throw error.status }
        place += 1
        bytes += row.heldBytes
        // Twice as many are held as are wanted, so that each is sorted twice or so.
        if let limit, entries.count / 2 - 32 >= limit { entries = first(limit, of: entries, &bytes) }
        if bytes > run.context.heldBytes, let limit, entries.count > limit {
          entries = first(limit, of: entries, &bytes)
        }
        if bytes > run.context.heldBytes { throw .exhausted(stage, run.context) }
      }
    }
    return first(limit ?? entries.count, of: entries, &bytes).map(\.row)
  }

  private func first(_ count: Int, of entries: [Entry], _ bytes: inout Int) -> [Entry] {
    let kept = Array(entries.sorted(by: precedes).prefix(count))
    bytes = kept.reduce(0) { $0 + $1.row.heldBytes }
    return kept
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

  /// What is absent comes first.
  private static func compare(_ left: Value?, _ right: Value?) -> Ordering {
    switch (left, right) {
    case (let left?, let right?): left.compare(right)
    case (nil, nil): .equal
    case (nil, _): .ascending
    case (_, nil): .descending
    }
  }
}
