// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

extension Row {
  /// Sets fields to the expressions' values for the row as it was; an absent value changes no field.
  mutating func assign(_ assignments: [Assignment], _ context: EvaluationContext) throws(EvaluationError) {
    let evaluation = Evaluation(self, context)
    var fields = data.fields
    for assignment in assignments {
      if let value = try evaluation.value(assignment.value) { try set(assignment.path, value, &fields, context) }
    }
    try Evaluation.check(.map(fields))
    data = DocumentData(fields)
  }

  /// The row with only these fields.
  func selecting(_ assignments: [Assignment], _ context: EvaluationContext) throws(EvaluationError) -> Row {
    let evaluation = Evaluation(self, context)
    var (result, fields) = (derived(), Fields())
    for assignment in assignments {
      if let value = try evaluation.value(assignment.value) { try result.set(assignment.path, value, &fields, context) }
    }
    try Evaluation.check(.map(fields))
    result.data = DocumentData(fields)
    return result
  }

  /// A row that is no document, but has this row's variables and score.
  private func derived() -> Row {
    var row = Row(data: DocumentData(Fields()), variables: variables)
    row.score = score
    return row
  }

  mutating func remove(_ paths: [FieldPath]) {
    var fields = data.fields
    for path in paths {
      switch Expression.Metadata(rawValue: path.last) {
      case .name? where path.isDocumentID: key = nil
      case .createTime? where path.segments.count == 1: createTime = nil
      case .updateTime? where path.segments.count == 1: updateTime = nil
      default: fields[path] = nil
      }
    }
    data = DocumentData(fields)
  }

  /// Replaces the fields by the entries of a map, of which `__name__` becomes the row's name.
  mutating func replaceFields(by map: Fields, _ context: EvaluationContext) throws(EvaluationError) {
    var fields = map
    if let name = fields["__name__"] {
      fields["__name__"] = nil
      try set(.documentID, name, &fields, context)
    }
    data = DocumentData(fields)
  }

  func replaced(
    by value: Value?, _ mode: ReplaceMode, _ context: EvaluationContext
  ) throws(EvaluationError) -> Row {
    guard case .map(let map)? = value else {
      throw EvaluationError("replace_with takes a map, not a value of type \(value?.pipelineType ?? "absent").")
    }
    if mode == .full {
      var row = derived()
      try row.replaceFields(by: map, context)
      return row
    }
    var (row, fields) = (self, data.fields)
    for entry in map.entries where mode == .mergePreferNew || fields[entry.name] == nil {
      fields[entry.name] = entry.value
    }
    row.data = DocumentData(fields)
    return row
  }

  private mutating func set(
    _ path: FieldPath, _ value: Value, _ fields: inout Fields, _ context: EvaluationContext
  ) throws(EvaluationError) {
    guard path.segments.count == 1, let metadata = Expression.Metadata(rawValue: path.last) else {
      fields[path] = value
      return
    }
    switch (metadata, value) {
    case (.name, .reference(context.database, let key)): self.key = key
    case (.createTime, .timestamp(let time)): createTime = SnapshotVersion(time)
    case (.updateTime, .timestamp(let time)): updateTime = SnapshotVersion(time)
    default:
      throw EvaluationError("'\(metadata.rawValue)' cannot be set to this value of type \(value.pipelineType).")
    }
  }

  /// The row as the value of an expression: the value of its only field, else a map.
  var value: Value {
    let fields = data.fields
    return fields.count == 1 ? fields.entries[0].value : .map(fields)
  }
}
