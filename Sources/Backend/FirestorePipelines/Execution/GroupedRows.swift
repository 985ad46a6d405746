// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// Aggregates rows. Produces one row for each group, in the order of the groups' first rows, or one row for all. Absent
/// values are grouped with null.
struct GroupedRows: RowSource {
  private struct Group {
    let values: [Value]
    var figures: [Accumulator]
    /// The memory of the group in bytes.
    var bytes = 0
  }

  /// The groups so far.
  private struct Groups {
    var found: [Group] = []
    var places: [[GroupKey]: Int] = [:]
  }

  private var input: Inflow
  private let run: PipelineRun
  private let accumulations: [Accumulation]
  private let groups: [Assignment]
  private let scope: PipelineRun.Scope
  private let subqueries: [Subquery]
  private let holding: Holding
  /// The groups still to return, the last one first.
  private var rest: [Group]?

  init(
    _ input: any RowSource, _ run: PipelineRun, _ accumulations: [Accumulation], _ groups: [Assignment],
    _ scope: PipelineRun.Scope
  ) {
    self.input = Inflow(input, into: "aggregate", run.context.work)
    holding = Holding("aggregate", run.context.work)
    (self.run, self.accumulations, self.groups, self.scope) = (run, accumulations, groups, scope)
    subqueries = (accumulations.compactMap(\.value) + groups.map(\.value)).flatMap(\.subqueries)
  }

  mutating func next() async throws(RPCStatus) -> [Row]? {
    if rest == nil { rest = try await aggregate() }
    var slice = Slice()
    while !slice.isFull, let group = rest?.popLast() {
      try await run.context.work.step(group.bytes)
      holding.remove(group.bytes)
      slice.append(row(of: group))
    }
    return slice.result
  }

  private mutating func aggregate() async throws(RPCStatus) -> [Group] {
    var known = Groups()
    if groups.isEmpty { known.found = [Group(values: [], figures: accumulations.map { Accumulator($0) })] }
    let (groups, accumulations, context) = (groups, accumulations, run.context)
    while let row = try await input.next() {
      let added = try await run.evaluate(row, subqueries) { row throws(EvaluationError) in
        try Self.add(row, to: &known, groups, accumulations, context)
      }
      if added < 0 { holding.remove(-added) } else { try holding.add(added) }
    }
    return known.found.reversed()
  }

  /// - Returns: the additional memory in bytes.
  private static func add(
    _ row: Row, to known: inout Groups, _ groups: [Assignment], _ accumulations: [Accumulation],
    _ context: EvaluationContext
  ) throws(EvaluationError) -> Int {
    let evaluation = Evaluation(row, context)
    var (place, added) = (0, 0)
    if !groups.isEmpty {
      var values: [Value] = []
      for group in groups { values.append(try evaluation.value(group.value) ?? .null) }
      let key = values.map { GroupKey($0) }
      if let earlier = known.places[key] {
        place = earlier
      } else {
        place = known.found.count
        known.places[key] = place
        known.found.append(Group(values: values, figures: accumulations.map { Accumulator($0) }))
        added = values.reduce(200 + 100 * accumulations.count) { $0 + 2 * $1.memorySize }
      }
    }
    for (index, accumulation) in accumulations.enumerated() {
      let value: Value?
      if let expression = accumulation.value { value = try evaluation.value(expression) } else { value = nil }
      added -= known.found[place].figures[index].heldBytes
      try known.found[place].figures[index].add(value)
      added += known.found[place].figures[index].heldBytes
    }
    known.found[place].bytes += added
    return added
  }

  private func row(of group: Group) -> Row {
    var (row, fields) = (Row(data: DocumentData(Fields()), variables: scope.variables), Fields())
    for (assignment, value) in zip(groups, group.values) { fields[assignment.path] = value }
    for (accumulation, figure) in zip(accumulations, group.figures) { fields[accumulation.path] = figure.figure }
    row.data = DocumentData(fields)
    return row
  }
}

/// Produces one row for each combination of values, when the combination appears for the first time. An absent value
/// counts as null.
struct DistinctRows: RowSource {
  private var input: Inflow
  private let run: PipelineRun
  private let groups: [Assignment]
  private let subqueries: [Subquery]
  private let holding: Holding
  private var seen: Set<[GroupKey]> = []

  init(_ input: any RowSource, _ run: PipelineRun, _ groups: [Assignment]) {
    self.input = Inflow(input, into: "distinct", run.context.work)
    holding = Holding("distinct", run.context.work)
    (self.run, self.groups, subqueries) = (run, groups, groups.flatMap(\.value.subqueries))
  }

  mutating func next() async throws(RPCStatus) -> [Row]? {
    var slice = Slice()
    let (groups, context) = (groups, run.context)
    while !slice.isFull, let row = try await input.next() {
      var group = try await run.evaluate(row, subqueries) { row throws(EvaluationError) in
        try row.selecting(groups, keepsAbsent: true, context)
      }
      let key = groups.map { GroupKey(group.data[$0.path]) } + [GroupKey(group.key.map { .string($0.path.text) })]
      guard seen.insert(key).inserted else { continue }
      try holding.add(group.heldBytes)
      slice.append(group)
    }
    if slice.rows.isEmpty {
      seen = []
      holding.clear()
    }
    return slice.result
  }
}
