// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery

/// The documents of a database that a pipeline reads.
package enum DocumentSelection: Hashable, Sendable {
  case collection(ResourcePath)
  case collectionGroup(String)
  case database
  /// The documents with these keys that exist, in this order.
  case documents([DocumentKey])
}

/// The source of a pipeline's documents. All documents of one pipeline come from the same version of the database.
package protocol DocumentSource: Sendable {
  /// Starts to read the selected documents, in the order of their names.
  /// - Parameter constraints: conditions that the needed documents fulfill; other documents may be returned too.
  func open(_ selection: DocumentSelection, _ constraints: [Filter]) async throws(RPCStatus) -> any DocumentCursor
}

/// A reading position.
package protocol DocumentCursor: Sendable {
  /// The next documents, which together have about the size of one piece of a query's result; `nil` at the end.
  mutating func next() async throws(RPCStatus) -> [Document]?
}

/// The rows of a pipeline, produced in slices on demand.
protocol RowSource: Sendable {
  /// - Returns: `nil` at the end; never an empty slice.
  mutating func next() async throws(RPCStatus) -> [Row]?
}

/// The output rows of a stage, limited in number and in bytes. The last row may exceed the byte limit.
struct Slice {
  static let rows = 500
  static let bytes = 256 << 10

  private(set) var rows: [Row] = []
  private var bytes = 0

  var isFull: Bool { rows.count >= Self.rows || bytes >= Self.bytes }
  /// The rows, or `nil` instead of an empty slice.
  var result: [Row]? { rows.isEmpty ? nil : rows }

  mutating func append(_ row: Row) {
    var row = row
    bytes += row.heldBytes
    rows.append(row)
  }
}

/// The rows that a stage reads one by one from the previous stage, each as a step of the pipeline's work. Unread rows
/// of a slice count as used memory, except documents that were read directly from the database. Such documents are
/// limited to one piece of a query's result.
struct Inflow: Sendable {
  /// The source of the rows; set to `nil` at the end, to release its memory.
  private var source: (any RowSource)?
  /// The pending rows of the current slice, the last one first.
  private var rest: [Row] = []
  private let holding: Holding?
  private let work: PipelineWork

  init(_ source: any RowSource, into stage: String, _ work: PipelineWork) {
    self.source = source
    self.work = work
    holding = source is DocumentRows ? nil : Holding(stage, work)
  }

  mutating func next() async throws(RPCStatus) -> Row? {
    while rest.isEmpty {
      guard let slice = try await source?.next() else {
        source = nil
        return nil
      }
      rest = slice.reversed()
      var bytes = 0
      for index in rest.indices { bytes += rest[index].heldBytes }
      try holding?.add(bytes)
    }
    guard var row = rest.popLast() else { return nil }
    holding?.remove(row.heldBytes)
    try await work.step(row.heldBytes)
    return row
  }

  /// Releases the source and the unread rows, because the stage needs no more rows.
  mutating func end() {
    (source, rest) = (nil, [])
    holding?.clear()
  }
}

/// The documents of the database, as rows.
struct DocumentRows: RowSource {
  var cursor: any DocumentCursor
  let variables: [String: Value?]
  let work: PipelineWork

  mutating func next() async throws(RPCStatus) -> [Row]? {
    while let documents = try await cursor.next() {
      try await work.step()
      if !documents.isEmpty { return documents.map { Row($0, variables: variables) } }
    }
    return nil
  }
}

/// Rows that a stage has collected. Their memory is released as the next stage reads them.
struct HeldRows: RowSource {
  /// The remaining rows, the last one first.
  private var rest: [Row]
  private let holding: Holding?

  /// - Parameter holding: counts the bytes of the rows.
  init(_ rows: [Row], _ holding: Holding? = nil) {
    rest = rows.reversed()
    self.holding = holding
  }

  mutating func next() async throws(RPCStatus) -> [Row]? { take() }

  mutating func take() -> [Row]? {
    var slice = Slice()
    while !slice.isFull, var row = rest.popLast() {
      holding?.remove(row.heldBytes)
      slice.append(row)
    }
    if rest.isEmpty {
      rest = []
      holding?.clear()
    }
    return slice.result
  }
}

/// Rows from the maps of fields that a pipeline contains. Each map is evaluated on demand.
struct LiteralRows: RowSource {
  private var rest: ArraySlice<Expression>
  private let run: PipelineRun
  private let scope: PipelineRun.Scope

  init(_ literals: [Expression], _ run: PipelineRun, _ scope: PipelineRun.Scope) {
    (rest, self.run, self.scope) = (literals[...], run, scope)
  }

  mutating func next() async throws(RPCStatus) -> [Row]? {
    var (slice, context) = (Slice(), run.context)
    var outer = Row(data: DocumentData(Fields()), variables: scope.variables)
    outer.key = scope.key
    while !slice.isFull, let literal = rest.popFirst() {
      try await context.work.step()
      let row = try await run.evaluate(outer, literal.subqueries) { row throws(EvaluationError) in
        guard case .map(let fields)? = try Evaluation(row, context).value(literal) else {
          throw EvaluationError("Every argument of the stage 'literals' must be a map of fields.")
        }
        var result = Row(data: DocumentData(Fields()), variables: row.variables)
        try result.replaceFields(by: fields, context)
        return result
      }
      slice.append(row)
    }
    return slice.result
  }
}

/// Rows that a function transforms, each into another row or none.
struct TransformedRows: RowSource {
  typealias Transform = @Sendable (Row) throws(EvaluationError) -> Row?

  private var input: Inflow
  private let run: PipelineRun
  /// The subqueries to run for each row before it is transformed.
  private let subqueries: [Subquery]
  private let transform: Transform

  init(
    _ stage: String, _ input: any RowSource, _ run: PipelineRun, _ subqueries: [Subquery],
    _ transform: @escaping Transform
  ) {
    self.input = Inflow(input, into: stage, run.context.work)
    (self.run, self.subqueries, self.transform) = (run, subqueries, transform)
  }

  mutating func next() async throws(RPCStatus) -> [Row]? {
    var slice = Slice()
    while !slice.isFull, let row = try await input.next() {
      guard var made = try await run.evaluate(row, subqueries, transform) else { continue }
      made.answers = [:]
      slice.append(made)
    }
    return slice.result
  }
}

/// Rows after an offset, up to a limit.
struct LimitedRows: RowSource {
  private var input: Inflow
  private var skipped: Int
  private var left: Int

  init(_ stage: String, _ input: any RowSource, _ work: PipelineWork, skipped: Int, left: Int) {
    self.input = Inflow(input, into: stage, work)
    (self.skipped, self.left) = (skipped, left)
  }

  mutating func next() async throws(RPCStatus) -> [Row]? {
    var slice = Slice()
    while left > 0, !slice.isFull, let row = try await input.next() {
      if skipped > 0 {
        skipped -= 1
      } else {
        left -= 1
        slice.append(row)
      }
    }
    if left == 0 { input.end() }
    return slice.result
  }
}

/// The rows of one pipeline, followed by the rows of another.
struct UnitedRows: RowSource {
  private var input: any RowSource
  private let other: Pipeline
  private let run: PipelineRun
  private let scope: PipelineRun.Scope
  private var isInOther = false

  init(_ input: any RowSource, _ other: Pipeline, _ run: PipelineRun, _ scope: PipelineRun.Scope) {
    (self.input, self.other, self.run, self.scope) = (input, other, run, scope)
  }

  mutating func next() async throws(RPCStatus) -> [Row]? {
    if let rows = try await input.next() { return rows }
    if isInOther { return nil }
    isInOther = true
    // The first pipeline's memory is released before the other begins.
    input = HeldRows([])
    input = try await run.rows(of: other, scope)
    return try await input.next()
  }
}

/// A row for each element of an array. A row whose value is not an array is unchanged and has no index.
struct UnnestedRows: RowSource {
  /// A row, and the index of its next element to return.
  private struct Unnested {
    let row: Row
    /// The fields of the row, which its result rows share.
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
    // Computes the size from the known size of the other fields, which are not measured for each element.
    row.assumeHeldBytes(unnested.bytes + 2 * Row.fieldBytes + (element?.memorySize ?? 0))
    return row
  }
}

/// A random sample of the rows, each with the same probability (reservoir sampling: Vitter, "Random Sampling with a
/// Reservoir", 1985).
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
