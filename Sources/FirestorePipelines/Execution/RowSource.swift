// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// Rows of a pipeline, slice by slice, when they are asked for.
protocol RowSource: Sendable {
  /// - Returns: `nil` at the end; never an empty slice.
  mutating func next() async throws(RPCStatus) -> [Row]?
}

extension RPCStatus {
  /// A stage that would hold more than memory has room for.
  static func exhausted(_ stage: String, _ context: EvaluationContext) -> RPCStatus {
    RPCStatus(
      .resourceExhausted,
      "The stage '\(stage)' would hold more than \(context.heldBytes >> 20) MiB; filter, select or limit before it.")
  }
}

/// Documents of the database.
struct DocumentRows: RowSource {
  var cursor: any DocumentCursor
  let variables: [String: Value?]

  mutating func next() async throws(RPCStatus) -> [Row]? {
    while let documents = try await cursor.next() {
      if Task.isCancelled { throw RPCStatus(.cancelled, "The request was cancelled.") }
      if !documents.isEmpty { return documents.map { Row($0, variables: variables) } }
    }
    return nil
  }
}

/// Rows that are there already.
struct HeldRows: RowSource {
  private static let slice = 500

  private var rest: ArraySlice<Row>

  init(_ rows: [Row]) { rest = rows[...] }

  mutating func next() async throws(RPCStatus) -> [Row]? { take() }

  mutating func take() -> [Row]? {
    if rest.isEmpty { return nil }
    defer { rest = rest.dropFirst(Self.slice) }
    return Array(rest.prefix(Self.slice))
  }
}

/// Rows that each become another one, or none.
struct TransformedRows: RowSource {
  typealias Transform = @Sendable (Row) throws(EvaluationError) -> Row?

  /// What a slice holds, but for its last row: what is worked out may be far larger than the documents.
  private static let sliceBytes = 1 << 20

  private var input: any RowSource
  private let run: PipelineRun
  /// What has to be known of a row before.
  private let subqueries: [Subquery]
  private let transform: Transform
  private var rest: ArraySlice<Row> = []

  init(_ input: any RowSource, _ run: PipelineRun, _ subqueries: [Subquery], _ transform: @escaping Transform) {
    (self.input, self.run, self.subqueries, self.transform) = (input, run, subqueries, transform)
  }

  mutating func next() async throws(RPCStatus) -> [Row]? {
    var (result, bytes) = ([Row](), 0)
    while bytes < Self.sliceBytes {
      guard let next = rest.popFirst() else {
        if !result.isEmpty { return result }
        if Task.isCancelled { throw RPCStatus(.cancelled, "The request was cancelled.") }
        guard let rows = try await input.next() else { return nil }
        rest = rows[...]
        continue
      }
      let row = subqueries.isEmpty ? next : try await run.answered(next, subqueries)
      do throws(EvaluationError) {
        guard let made = try transform(row) else { continue }
        result.append(made)
        bytes += made.heldBytes
      } catch { throw error.status }
    }
    return result
  }
}

/// A row for each element of an array. What is no array stays as it is, without an index.
struct UnnestedRows: RowSource {
  private static let slice = 500

  private var input: any RowSource
  private let run: PipelineRun
  private let unnesting: Unnesting
  private let subqueries: [Subquery]
  private var rest: ArraySlice<Row> = []
  /// The elements that are still to come of a row.
  private var current: (row: Row, elements: ArraySlice<Value>)?

  init(_ input: any RowSource, _ run: PipelineRun, _ unnesting: Unnesting) {
    (self.input, self.run, self.unnesting) = (input, run, unnesting)
    subqueries = unnesting.value.subqueries
  }

  mutating func next() async throws(RPCStatus) -> [Row]? {
    var result: [Row] = []
    while result.count < Self.slice {
      if case (let row, var elements)? = current {
        while result.count < Self.slice, let element = elements.popFirst() {
          result.append(row.with(element, at: elements.startIndex - 1, unnesting))
        }
        current = elements.isEmpty ? nil : (row, elements)
        continue
      }
      guard let next = rest.popFirst() else {
        if !result.isEmpty { return result }
        guard let rows = try await input.next() else { return nil }
        rest = rows[...]
        continue
      }
      let row = subqueries.isEmpty ? next : try await run.answered(next, subqueries)
      do throws(EvaluationError) {
        let value = try Evaluation(row, run.context).value(unnesting.value)
        if case .array(let elements)? = value {
          current = (row, elements[...])
        } else {
          result.append(row.with(value, at: nil, unnesting))
        }
      } catch { throw error.status }
    }
    return result
  }
}

extension Row {
  fileprivate func with(_ element: Value?, at index: Int?, _ unnesting: Unnesting) -> Row {
    var (row, fields) = (self, data.fields)
    fields[unnesting.path] = element
    if let path = unnesting.indexPath { fields[path] = index.map { .integer(Int64($0)) } ?? .null }
    row.data = DocumentData(fields)
    return row
  }
}

/// Rows without the first ones, up to a number.
struct LimitedRows: RowSource {
  var input: any RowSource
  var skipped: Int
  var left: Int

  mutating func next() async throws(RPCStatus) -> [Row]? {
    while left > 0, let rows = try await input.next() {
      let passed = rows.dropFirst(skipped).prefix(left)
      skipped -= min(skipped, rows.count)
      left -= passed.count
      if !passed.isEmpty { return Array(passed) }
    }
    return nil
  }
}

/// The rows of a pipeline, then those of another.
struct UnitedRows: RowSource {
  var input: any RowSource
  let other: Pipeline
  let run: PipelineRun
  let scope: PipelineRun.Scope
  private var isInOther = false

  init(_ input: any RowSource, _ other: Pipeline, _ run: PipelineRun, _ scope: PipelineRun.Scope) {
    (self.input, self.other, self.run, self.scope) = (input, other, run, scope)
  }

  mutating func next() async throws(RPCStatus) -> [Row]? {
    if let rows = try await input.next() { return rows }
    if isInOther { return nil }
    isInOther = true
    input = try await run.rows(of: other, scope)
    return try await input.next()
  }
}

/// Some of the rows, each with the same chance (reservoir sampling: Vitter, "Random Sampling with a Reservoir", 1985).
struct SampledRows: RowSource {
  var input: any RowSource
  let count: Int
  let context: EvaluationContext
  private var held: HeldRows?

  init(_ input: any RowSource, _ count: Int, _ context: EvaluationContext) {
    (self.input, self.count, self.context) = (input, count, context)
  }

  mutating func next() async throws(RPCStatus) -> [Row]? {
    if held == nil { held = HeldRows(try await sample()) }
    return held?.take()
  }

  private mutating func sample() async throws(RPCStatus) -> [Row] {
    var (rows, seen, bytes) = ([Row](), UInt64(0), 0)
    while count > 0, let slice = try await input.next() {
      for row in slice {
        seen += 1
        if rows.count < count {
          rows.append(row)
        } else {
          let place = context.random() % seen
          guard place < UInt64(count) else { continue }
          bytes -= rows[Int(place)].heldBytes
          rows[Int(place)] = row
        }
        bytes += row.heldBytes
        if bytes > context.heldBytes { throw .exhausted("sample", context) }
      }
    }
    return rows
  }
}
