// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreProtocol
import FirestoreQuery

/// Executes a pipeline: each slice of documents goes through the stages when its results are asked for. Only stages
/// that have to see all documents hold them, a sort with a limit no more than twice that.
package struct PipelineRun: Sendable {
  let documents: any DocumentSource
  let context: EvaluationContext

  package init(_ documents: any DocumentSource, _ context: EvaluationContext) {
    self.documents = documents
    self.context = context
  }

  /// What a pipeline in an expression knows of the document for which it is executed.
  struct Scope: Sendable {
    var variables: [String: Value?] = [:]
    var key: DocumentKey?
  }

  /// The results of a pipeline, those to write aside.
  package func results(of pipeline: Pipeline) async throws(RPCStatus) -> PipelineResults {
    PipelineResults(rows: try await rows(of: pipeline, Scope()))
  }

  /// The writes with which a pipeline ends, all of them.
  /// - Throws: `resource-exhausted` if there are too many.
  package func mutations(of pipeline: Pipeline, _ write: Pipeline.Write) async throws(RPCStatus) -> [Mutation] {
    var (rows, mutations, keys, bytes) = (
      try await rows(of: pipeline, Scope()), [Mutation](), Set<DocumentKey>(), 0
    )
    while let slice = try await rows.next() {
      for row in slice {
        let mutation = try await mutation(for: row, write)
        guard keys.insert(mutation.key).inserted else {
          throw .invalid("The pipeline would write the document '\(mutation.key)' twice.")
        }
        mutations.append(mutation)
        bytes += row.heldBytes
        if mutations.count > PipelineLimits.writes || bytes > context.heldBytes {
          throw RPCStatus(
            .resourceExhausted,
            "A pipeline writes up to \(PipelineLimits.writes) documents at once; put a limit before its last stage.")
        }
      }
    }
    return mutations
  }

  private func mutation(for row: Row, _ write: Pipeline.Write) async throws(RPCStatus) -> Mutation {
    guard let key = row.key else {
      throw .invalid("The documents that come into 'update' or 'delete' need the field '__name__'.")
    }
    switch write {
    case .delete: return Mutation(key: key, operation: .delete)
    case .update(let assignments):
      var row = try await answered(row, assignments.flatMap(\.value.subqueries))
      do throws(EvaluationError) { try row.assign(assignments, context) } catch { throw error.status }
      return Mutation(key: key, operation: .set(row.data.fields), precondition: .exists(true))
    }
  }

  // MARK: Stages

  func rows(of pipeline: Pipeline, _ scope: Scope) async throws(RPCStatus) -> any RowSource {
    var rows = try await input(pipeline.input, pipeline.constraints, scope)
    var rest = pipeline.stages[...]
    while let stage = rest.popFirst() {
      if case .sort(let orders) = stage {
        rows = sorted(rows, orders, limit: Self.need(of: rest))
      } else {
        rows = executing(stage, on: rows, scope)
      }
    }
    return rows
  }

  /// How many rows the stages behind a sort let through at most.
  private static func need(of stages: ArraySlice<Stage>) -> Int? {
    var skipped = 0
    for stage in stages {
      switch stage {
      case .offset(let count): skipped += count
      case .limit(let count): return count + skipped
      default: return nil
      }
    }
    return nil
  }

  private func input(
    _ input: Pipeline.Input, _ constraints: [Filter], _ scope: Scope
  ) async throws(RPCStatus) -> any RowSource {
    let selection: DocumentSelection
    switch input {
    case .collection(let path): selection = .collection(path)
    case .collectionGroup(let id): selection = .collectionGroup(id)
    case .database: selection = .database
    case .documents(let keys): selection = .documents(keys)
    case .subcollection(let id):
      guard let key = scope.key else {
        throw .invalid("The stage 'subcollection' needs a document with the field '__name__' around its pipeline.")
      }
      selection = .collection(key.path.appending(id))
    case .literals(let literals): return try await self.literals(literals, scope)
    }
    return DocumentRows(cursor: try await documents.open(selection, constraints), variables: scope.variables)
  }

  private func literals(_ literals: [Expression], _ scope: Scope) async throws(RPCStatus) -> any RowSource {
    var rows: [Row] = []
    for literal in literals {
      var outer = Row(data: DocumentData(Fields()), variables: scope.variables)
      outer.key = scope.key
      let row = try await answered(outer, literal.subqueries)
      do throws(EvaluationError) {
        guard case .map(let fields)? = try Evaluation(row, context).value(literal) else {
          throw EvaluationError("A literal of a pipeline is a map of fields.")
        }
        var result = Row(data: DocumentData(Fields()), variables: scope.variables)
        try result.replaceFields(by: fields, context)
        rows.append(result)
      } catch { throw error.status }
    }
    return HeldRows(rows)
  }

  /// The row with what its subqueries give.
  func answered(_ row: Row, _ subqueries: [Subquery]) async throws(RPCStatus) -> Row {
    var row = row
    row.answers = [:]
    for subquery in subqueries { row.answers[subquery.id] = try await answer(subquery, for: row) }
    return row
  }

  private func answer(
    _ subquery: Subquery, for row: Row
  ) async throws(RPCStatus) -> Result<Value?, EvaluationError> {
    var rows = try await rows(of: subquery.pipeline, Scope(variables: row.variables, key: row.key))
    var (values, size) = ([Value](), 0)
    while let slice = try await rows.next() {
      for row in slice {
        values.append(row.value)
        if subquery.kind == .scalar, values.count > 1 {
          return .failure(EvaluationError("A pipeline that is an expression of one value has multiple results."))
        }
        size += row.heldBytes
        if size > PipelineLimits.valueBytes { return .failure(Evaluation.tooLarge) }
      }
    }
    switch subquery.kind {
    case .array: return .success(.array(values))
    case .scalar: return .success(values.first ?? .null)
    }
  }
}

/// The results of a pipeline, slice by slice.
package struct PipelineResults: Sendable {
  var rows: any RowSource

  init(rows: any RowSource) { self.rows = rows }

  /// Results that are no documents.
  package init(_ results: [Fields]) { rows = HeldRows(results.map { Row(data: DocumentData($0)) }) }

  /// - Returns: `nil` at the end.
  package mutating func next() async throws(RPCStatus) -> [PipelineResult]? {
    guard let slice = try await rows.next() else { return nil }
    return slice.map { row in
      PipelineResult(key: row.key, createTime: row.createTime, updateTime: row.updateTime, data: row.data)
    }
  }
}

extension Expression {
  /// The pipelines in it, those of pipelines in them aside.
  var subqueries: [Subquery] {
    switch self {
    case .constant, .field, .metadata, .variable, .currentDocument: []
    case .array(let elements): elements.flatMap(\.subqueries)
    case .map(let entries): entries.flatMap(\.value.subqueries)
    case .call(_, let arguments), .form(_, let arguments): arguments.flatMap(\.subqueries)
    case .arrayWalk(let walk): walk.array.subqueries
    case .subquery(let subquery): [subquery]
    }
  }
}
