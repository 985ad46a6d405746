// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// Figures over rows: one row for each group, in the order in which groups were first seen, or one for all.
struct GroupedRows: RowSource {
  private struct Group {
    let values: [Value?]
    var figures: [Accumulator]
  }

  private var input: any RowSource
  private let run: PipelineRun
  private let accumulations: [Accumulation]
  private let groups: [Assignment]
  private let scope: PipelineRun.Scope
  private let subqueries: [Subquery]
  private var held: HeldRows?

  init(
    _ input: any RowSource, _ run: PipelineRun, _ accumulations: [Accumulation], _ groups: [Assignment],
    _ scope: PipelineRun.Scope
  ) {
    (self.input, self.run, self.accumulations, self.groups) = (input, run, accumulations, groups)
    self.scope = scope
    subqueries = (accumulations.compactMap(\.value) + groups.map(\.value)).flatMap(\.subqueries)
  }

  mutating func next() async throws(RPCStatus) -> [Row]? {
    if held == nil { held = HeldRows(try await aggregate()) }
    return held?.take()
  }

  private mutating func aggregate() async throws(RPCStatus) -> [Row] {
    var (found, places, bytes) = ([Group](), [[GroupKey]: Int](), 0)
    if groups.isEmpty { found = [Group(values: [], figures: accumulations.map { Accumulator($0) })] }
    while let rows = try await input.next() {
      for row in rows {
        let row = subqueries.isEmpty ? row : try await run.answered(row, subqueries)
        do throws(EvaluationError) { try add(row, to: &found, &places, &bytes) } catch { throw error.status }
        if bytes > run.context.heldBytes { throw .exhausted("aggregate", run.context) }
      }
    }
    var results: [Row] = []
    for group in found {
      var (row, fields) = (Row(data: DocumentData(Fields()), variables: scope.variables), Fields())
      for (assignment, value) in zip(groups, group.values) {
        if let value { fields[assignment.path] = value }
      }
      for (accumulation, figure) in zip(accumulations, group.figures) { fields[accumulation.path] = figure.figure }
      row.data = DocumentData(fields)
      results.append(row)
    }
    return results
  }

  private func add(
    _ row: Row, to found: inout [Group], _ places: inout [[GroupKey]: Int], _ bytes: inout Int
  ) throws(EvaluationError) {
    let evaluation = Evaluation(row, run.context)
    var place = 0
    if !groups.isEmpty {
      var values: [Value?] = []
      for group in groups { values.append(try evaluation.value(group.value)) }
      let key = values.map { GroupKey($0) }
      if let known = places[key] {
        place = known
      } else {
        place = found.count
        places[key] = place
        found.append(Group(values: values, figures: accumulations.map { Accumulator($0) }))
        bytes += values.reduce(200 + 100 * accumulations.count) { $0 + 2 * ($1?.byteSize ?? 0) }
      }
    }
    for (index, accumulation) in accumulations.enumerated() {
      let value: Value?
      if let expression = accumulation.value { value = try evaluation.value(expression) } else { value = nil }
      bytes -= found[place].figures[index].heldBytes
      try found[place].figures[index].add(value)
      bytes += found[place].figures[index].heldBytes
    }
  }
}

/// One row for each combination of values, when it is first seen.
struct DistinctRows: RowSource {
  private var input: any RowSource
  private let run: PipelineRun
  private let groups: [Assignment]
  private let subqueries: [Subquery]
  private var seen: Set<[GroupKey]> = []
  private var bytes = 0

  init(_ input: any RowSource, _ run: PipelineRun, _ groups: [Assignment]) {
    (self.input, self.run, self.groups) = (input, run, groups)
    subqueries = groups.flatMap(\.value.subqueries)
  }

  mutating func next() async throws(RPCStatus) -> [Row]? {
    while let rows = try await input.next() {
      var result: [Row] = []
      for row in rows {
        let row = subqueries.isEmpty ? row : try await run.answered(row, subqueries)
        let group: Row
        do throws(EvaluationError) { group = try row.selecting(groups, run.context) } catch { throw error.status }
        let key = groups.map { GroupKey(group.data[$0.path]) } + [GroupKey(group.key.map { .string($0.path.text) })]
        guard seen.insert(key).inserted else { continue }
        bytes += group.heldBytes
        if bytes > run.context.heldBytes { throw .exhausted("distinct", run.context) }
        result.append(group)
      }
      if !result.isEmpty { return result }
    }
    return nil
  }
}
