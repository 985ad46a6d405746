// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// Some of the rows, each with the same chance (reservoir sampling: Vitter, "Random Sampling with a Reservoir", 1985).
struct SampledRows: RowSource {
  private var input: Inflow
  private let count: Int
  private let context: EvaluationContext
  private let holding: Holding
  private var held: HeldRows?

  init(_ input: any RowSource, _ count: Int, _ context: EvaluationContext) {
    self.input = Inflow(input, into: "sample", context.work)
    (self.count, self.context) = (count, context)
    holding = Holding("sample", context.work)
  }

  mutating func next() async throws(RPCStatus) -> [Row]? {
    if held == nil { held = HeldRows(try await sample(), holding) }
    return held?.take()
  }

  private mutating func sample() async throws(RPCStatus) -> [Row] {
    var (rows, seen) = ([Row](), UInt64(0))
    while count > 0, var row = try await input.next() {
      seen += 1
      if rows.count < count {
        rows.append(row)
      } else {
        let place = context.random() % seen
        guard place < UInt64(count) else { continue }
        holding.remove(rows[Int(place)].heldBytes)
        rows[Int(place)] = row
      }
      try holding.add(row.heldBytes)
    }
    input.end()
    return rows
  }
}
