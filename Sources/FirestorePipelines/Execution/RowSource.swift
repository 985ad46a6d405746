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

/// Rows that each become none, one or several.
struct TransformedRows: RowSource {
  typealias Transform = @Sendable (Row, inout [Row]) throws(EvaluationError) -> Void

  var input: any RowSource
  let run: PipelineRun
  /// What has to be known of a row before.
  let subqueries: [Subquery]
  let transform: Transform

  mutating func next() async throws(RPCStatus) -> [Row]? {
    while let rows = try await input.next() {
      var result: [Row] = []
      result.reserveCapacity(rows.count)
      for row in rows {
        let row = subqueries.isEmpty ? row : try await run.answered(row, subqueries)
        do throws(EvaluationError) { try transform(row, &result) } catch { throw error.status }
      }
      if !result.isEmpty { return result }
      if Task.isCancelled { throw RPCStatus(.cancelled, "The request was cancelled.") }
    }
    return nil
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
