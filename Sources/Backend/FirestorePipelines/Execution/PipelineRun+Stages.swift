// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

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

  /// The rows whose vectors are nearest, nearest first. Rows without a vector of the same length are left out.
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

  /// The rows that a text search finds, the best first unless it has an order.
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
  /// The constant texts that `document_matches` searches for in the expression.
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
