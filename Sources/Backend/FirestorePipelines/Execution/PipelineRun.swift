// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreProtocol
import FirestoreQuery

/// Executes a pipeline: each slice of documents passes through the stages on demand. Only stages that need all
/// documents keep them in memory; a sort with a limit keeps at most twice as many documents as the limit.
package struct PipelineRun: Sendable {
  let documents: any DocumentSource
  let context: EvaluationContext

  package init(_ documents: any DocumentSource, _ context: EvaluationContext) {
    self.documents = documents
    self.context = context
  }

  /// The variables and the key that a subquery inherits from its document.
  struct Scope: Sendable {
    var variables: [String: Value?] = [:]
    var key: DocumentKey?
  }

  /// Runs a pipeline without its writes.
  package func results(of pipeline: Pipeline) async throws(RPCStatus) -> PipelineResults {
    PipelineResults(rows: try await rows(of: pipeline, Scope()), context.work)
  }

  /// Runs a pipeline and returns its writes.
  /// - Throws: `resource-exhausted` if there are too many.
  package func mutations(of pipeline: Pipeline, _ write: Pipeline.Write) async throws(RPCStatus) -> [Mutation] {
    var (rows, mutations, keys) = (try await rows(of: pipeline, Scope()), [Mutation](), Set<DocumentKey>())
    let holding = Holding("update", context.work)
    while let slice = try await rows.next() {
      for var row in slice {
        try await context.work.step(row.heldBytes)
        let mutation = try await mutation(for: row, write)
        guard keys.insert(mutation.key).inserted else {
          throw .invalid("The pipeline would write the document '\(mutation.key)' twice.")
        }
        mutations.append(mutation)
        if mutations.count > PipelineLimits.writes || !holding.takes(row.heldBytes) {
          throw RPCStatus(
            .resourceExhausted,
            "A pipeline can write at most \(PipelineLimits.writes) documents. Add a limit before its last stage.")
        }
      }
    }
    // A condition that stopped early because the caller left has omitted documents.
    try await context.work.step()
    return mutations
  }

  private func mutation(for row: Row, _ write: Pipeline.Write) async throws(RPCStatus) -> Mutation {
    guard let key = row.key else {
      throw .invalid("The input documents of 'update' or 'delete' need the field '__name__'.")
    }
    switch write {
    case .delete: return Mutation(key: key, operation: .delete)
    case .update(let assignments):
      let fields = try await evaluate(row, assignments.flatMap(\.value.subqueries)) { row throws(EvaluationError) in
        var row = row
        try row.assign(assignments, context)
        return row.data.fields
      }
      return Mutation(key: key, operation: .set(fields), precondition: .exists(true))
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

  /// The largest number of rows that the stages use; `nil` for no limit.
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
        throw .invalid("The stage 'subcollection' needs an outer document with the field '__name__'.")
      }
      selection = .collection(key.path.appending(id))
    case .literals(let literals): return LiteralRows(literals, self, scope)
    }
    return DocumentRows(
      cursor: try await documents.open(selection, constraints), variables: scope.variables, work: context.work)
  }

  /// Evaluates `body` for a row, with the results of its subqueries.
  func evaluate<Result>(
    _ row: Row, _ subqueries: [Subquery], _ body: (Row) throws(EvaluationError) -> Result
  ) async throws(RPCStatus) -> Result {
    var row = row
    let holding = subqueries.isEmpty ? nil : Holding("a pipeline in an expression", context.work)
    defer { withExtendedLifetime(holding) {} }
    for subquery in subqueries {
      row.answers[subquery.id] = try await answer(subquery, for: row, holding)
    }
    do throws(EvaluationError) { return try body(row) } catch { throw error.status }
  }

  /// - Parameter holding: counts the memory of the result.
  private func answer(
    _ subquery: Subquery, for row: Row, _ holding: Holding?
  ) async throws(RPCStatus) -> Swift.Result<Value?, EvaluationError> {
    var rows = try await rows(of: subquery.pipeline, Scope(variables: row.variables, key: row.key))
    var (values, size) = ([Value](), 0)
    while let slice = try await rows.next() {
      for var row in slice {
        values.append(row.value)
        if subquery.kind == .scalar, values.count > 1 {
          return .failure(
            EvaluationError(
              "Subpipeline returned multiple results. A scalar subpipeline can return at most one result."))
        }
        size += row.heldBytes
        if size > PipelineLimits.valueBytes { return .failure(Evaluation.tooLarge) }
        try holding?.add(row.heldBytes)
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
  private var rows: any RowSource
  private let work: PipelineWork?

  init(rows: any RowSource, _ work: PipelineWork) { (self.rows, self.work) = (rows, work) }

  /// Creates results that are not documents.
  package init(_ results: [Fields]) {
    (rows, work) = (HeldRows(results.map { Row(data: DocumentData($0)) }), nil)
  }

  /// - Returns: `nil` at the end.
  package mutating func next() async throws(RPCStatus) -> [PipelineResult]? {
    let slice = try await rows.next()
    // Checks after the last row too: a canceled evaluation is not a result.
    try await work?.step()
    return slice?.map { row in
      PipelineResult(key: row.key, createTime: row.createTime, updateTime: row.updateTime, data: row.data)
    }
  }
}

extension Expression {
  /// The subqueries in the expression, without subqueries inside them.
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

extension PipelineRun {
  func executing(_ stage: Stage, on rows: any RowSource, _ scope: Scope) -> any RowSource {
    let context = context
    switch stage {
    case .filter(let condition):
      return transformed("where", rows, condition.subqueries) { row throws(EvaluationError) in
        Evaluation(row, context).holds(condition) ? row : nil
      }
    case .select(let assignments):
      return transformed("select", rows, assignments.flatMap(\.value.subqueries)) { row throws(EvaluationError) in
        try row.selecting(assignments, context)
      }
    case .addFields(let assignments):
      return transformed("add_fields", rows, assignments.flatMap(\.value.subqueries)) { row throws(EvaluationError) in
        var row = row
        try row.assign(assignments, context)
        return row
      }
    case .removeFields(let paths):
      return transformed("remove_fields", rows) { row throws(EvaluationError) in
        var row = row
        row.remove(paths)
        return row
      }
    case .sort(let orders): return sorted(rows, orders, limit: nil)
    case .limit(let count): return LimitedRows("limit", rows, context.work, skipped: 0, left: count)
    case .offset(let count): return LimitedRows("offset", rows, context.work, skipped: count, left: .max)
    case .aggregate(let accumulations, let groups): return GroupedRows(rows, self, accumulations, groups, scope)
    case .distinct(let groups): return DistinctRows(rows, self, groups)
    case .nearest(let search): return nearest(search, among: rows)
    case .replace(let value, let mode):
      return transformed("replace_with", rows, value.subqueries) { row throws(EvaluationError) in
        try row.replaced(by: try Evaluation(row, context).value(value), mode, context)
      }
    case .sample(.documents(let count)): return SampledRows(rows, count, context)
    case .sample(.share(let share)):
      return transformed("sample", rows) { row throws(EvaluationError) in
        context.randomShare() < share ? row : nil
      }
    case .union(let other): return UnitedRows(rows, other, self, scope)
    case .unnest(let unnesting): return UnnestedRows(rows, self, unnesting)
    case .define(let definitions):
      return transformed("let", rows, definitions.flatMap(\.value.subqueries)) { row throws(EvaluationError) in
        let evaluation = Evaluation(row, context)
        var row = row
        for definition in definitions {
          row.variables.updateValue(try evaluation.value(definition.value), forKey: definition.name)
        }
        try Evaluation.check(.array(row.variables.values.compactMap { $0 }))
        return row
      }
    case .search(let search): return searched(search, in: rows)
    }
  }

  private func transformed(
    _ stage: String, _ rows: any RowSource, _ subqueries: [Subquery] = [],
    _ transform: @escaping TransformedRows.Transform
  ) -> TransformedRows {
    TransformedRows(stage, rows, self, subqueries, transform)
  }

  func sorted(_ rows: any RowSource, _ orders: [SortOrder], limit: Int?) -> SortedRows {
    let context = context
    return SortedRows(
      "sort", rows, self, subqueries: orders.flatMap(\.value.subqueries), isDescending: orders.map(\.isDescending),
      limit: limit
    ) { row throws(EvaluationError) in
      let evaluation = Evaluation(row, context)
      var keys: [Value?] = []
      for order in orders { keys.append(try evaluation.value(order.value)) }
      return keys
    }
  }

  /// The rows with the nearest vectors, nearest first. Excludes rows without a vector of the same dimension.
  private func nearest(_ search: NearestSearch, among rows: any RowSource) -> any RowSource {
    let context = context
    let isFarBetter = search.measure == .dotProduct
    let measured = transformed("find_nearest", rows, search.field.subqueries) { row throws(EvaluationError) in
      guard case .vector(let vector)? = try Evaluation(row, context).value(search.field),
        vector.count == search.vector.count
      else { return nil }
      let distance = search.measure(search.vector, vector)
      if let threshold = search.threshold, isFarBetter ? distance < threshold : distance > threshold { return nil }
      var row = row
      row.score = distance
      if let path = search.distanceField {
        var fields = row.data.fields
        fields[path] = .double(distance)
        row.data = DocumentData(fields)
      }
      return row
    }
    return SortedRows("find_nearest", measured, self, isDescending: [isFarBetter], limit: search.limit) { row in
      [row.score.map { .double($0) }]
    }
  }

  /// The rows that a text search finds. The best rows come first unless the search has an order.
  private func searched(_ search: TextSearch, in rows: any RowSource) -> any RowSource {
    let context = context
    let words = search.query.searchedWords
    var result: any RowSource = transformed("search", rows, search.query.subqueries) { row throws(EvaluationError) in
      guard Evaluation(row, context).holds(search.query) else { return nil }
      var row = row
      let scores = words.compactMap { $0.score(row.data.fields, context.work) }
      row.score = scores.isEmpty ? 0 : scores.reduce(0, +) / Double(scores.count)
      return row
    }
    if !search.order.isEmpty {
      result = sorted(result, search.order, limit: search.limit.map { $0 + search.offset })
    } else if !words.isEmpty {
      result = SortedRows(
        "search", result, self, isDescending: [true], limit: search.limit.map { $0 + search.offset }
      ) { row in [row.score.map { .double($0) }] }
    }
    if search.offset > 0 || search.limit != nil {
      result = LimitedRows("search", result, context.work, skipped: search.offset, left: search.limit ?? .max)
    }
    return search.added.isEmpty ? result : executing(.addFields(search.added), on: result, Scope())
  }
}

extension Expression {
  /// The constant texts of `document_matches` in the expression.
  fileprivate var searchedWords: [SearchQuery] {
    switch self {
    case .call(let function, let arguments):
      if case .matchesText = function.body, case .constant(.string(let text))? = arguments.first {
        return [SearchQuery(text)]
      }
      return arguments.flatMap(\.searchedWords)
    case .form(_, let arguments): return arguments.flatMap(\.searchedWords)
    default: return []
    }
  }
}
