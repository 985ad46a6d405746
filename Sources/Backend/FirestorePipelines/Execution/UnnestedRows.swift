// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// A row for each element of an array. A row whose value is no array stays as it is, without an index.
struct UnnestedRows: RowSource {
  /// A row whose elements from an index on are still to be returned.
  private struct Unnested {
    let row: Row
    /// The fields of the row, shared by all rows made from it.
    let fields: Fields
    let bytes: Int
    let elements: [Value]
    var place = 0
  }

  private var input: Inflow
  private let run: PipelineRun
  private let unnesting: Unnesting
  private let subqueries: [Subquery]
  private let holding: Holding
  private var current: Unnested?

  init(_ input: any RowSource, _ run: PipelineRun, _ unnesting: Unnesting) {
    self.input = Inflow(input, into: "unnest", run.context.work)
    (self.run, self.unnesting, subqueries) = (run, unnesting, unnesting.value.subqueries)
    holding = Holding("unnest", run.context.work)
  }

  mutating func next() async throws(RPCStatus) -> [Row]? {
    var slice = Slice()
    while !slice.isFull {
      if let unnested = current {
        if unnested.place < unnested.elements.count {
          try await run.context.work.step()
          slice.append(row(unnested, unnested.elements[unnested.place], at: unnested.place))
          current?.place += 1
        } else {
          current = nil
          holding.clear()
        }
        continue
      }
      guard let row = try await input.next() else { break }
      let (context, value) = (run.context, unnesting.value)
      let unnestedValue = try await run.evaluate(row, subqueries) { row throws(EvaluationError) in
        try Evaluation(row, context).value(value)
      }
      let fields = row.data.fields
      var decoded = row
      decoded.data = DocumentData(fields)
      let bytes = decoded.heldBytes
      if case .array(let elements)? = unnestedValue {
        try holding.add(bytes + Value.array(elements).memorySize)
        current = Unnested(row: decoded, fields: fields, bytes: bytes, elements: elements)
      } else {
        let unnested = Unnested(row: decoded, fields: fields, bytes: bytes, elements: [])
        slice.append(self.row(unnested, unnestedValue, at: nil))
      }
    }
    return slice.result
  }

  private func row(_ unnested: Unnested, _ element: Value?, at index: Int?) -> Row {
    var (row, fields) = (unnested.row, unnested.fields)
    fields[unnesting.path] = element
    if let path = unnesting.indexPath { fields[path] = index.map { .integer(Int64($0)) } ?? .null }
    row.data = DocumentData(fields)
    // The other fields are not measured again for each element.
    row.assumeHeldBytes(unnested.bytes + 2 * Row.fieldBytes + (element?.memorySize ?? 0))
    return row
  }
}
