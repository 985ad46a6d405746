// SPDX-License-Identifier: Apache-2.0
import ClientPort
import CommandOutput
import FirestoreClientState
import FirestoreJSON
import FirestoreModel
import FirestoreQuery
import FirestoreText

/// Converts writes, queries and faults to the text of scenario steps. Each text is parsed again to check that it has
/// the same meaning.
struct StepText {
  let database: DatabaseID

  /// The action that the text of a step describes; `nil` if the text is not a valid step.
  private func action(_ step: String) -> ScenarioStep.Action? {
    // The caller only needs to know whether the step is valid.
    try? ScenarioParser(database: database).action(step)
  }

  // MARK: Writes

  /// The step that performs a write; `nil` if no step can express the write.
  func step(_ mutation: Mutation) -> String? {
    let path = mutation.key.path.text
    let candidates: [String] =
      switch mutation.operation {
      case .delete: ["delete \(path)"]
      case .verify: []
      case .set(let fields): ["set", "create"].map { "\($0) \(path) \(json(fields, mutation.transforms))" }
      case .patch(let fields, let mask): patches(path, fields, mask, mutation.transforms)
      }
    return candidates.first { candidate in
      guard case .client(.request(.request(.write(let read))))? = action(candidate) else { return false }
      return read.count == 1 && Self.isSame(read[0], mutation)
    }
  }

  /// The step that replaces a document.
  func replacement(_ key: DocumentKey, _ fields: Fields) -> String { "set \(key.path.text) \(json(fields, []))" }

  private func patches(
    _ path: String, _ fields: Fields, _ mask: FieldMask, _ transforms: [FieldTransform]
  ) -> [String] {
    let values = mask.paths.sorted { $0.canonicalText < $1.canonicalText }.compactMap { field in
      fields[field].map { "\(field.canonicalText)=\(DocumentJSON.line(of: $0, relativeTo: database))" }
    }
    let computed = transforms.map { "\($0.path.canonicalText)=\(text(of: $0.operation))" }
    return [
      "merge \(path) \(json(fields, transforms))", "update \(path) \((values + computed).joined(separator: " "))",
    ]
  }

  private func json(_ fields: Fields, _ transforms: [FieldTransform]) -> String {
    let line = DocumentJSON.line(of: fields, relativeTo: database)
    // Only `update` can express transforms below the first level.
    let own = transforms.filter { $0.path.segments.count == 1 }.map { transform in
      "\(JSONSyntax(.string(transform.path.segments[0])).lineText): \(text(of: transform.operation))"
    }
    if own.isEmpty { return line }
    return line == "{}" ? "{\(own.joined(separator: ", "))}" : "\(line.dropLast()), \(own.joined(separator: ", "))}"
  }

  private func text(of operation: FieldTransform.Operation) -> String {
    func value(_ value: Value) -> String { DocumentJSON.line(of: value, relativeTo: database) }
    func list(_ values: [Value]) -> String { "[\(values.map(value).joined(separator: ", "))]" }
    return switch operation {
    case .serverTimestamp: #"{"$serverTimestamp": true}"#
    case .increment(let operand): "{\"$increment\": \(value(operand))}"
    case .minimum(let operand): "{\"$minimum\": \(value(operand))}"
    case .maximum(let operand): "{\"$maximum\": \(value(operand))}"
    case .arrayUnion(let values): "{\"$arrayUnion\": \(list(values))}"
    case .arrayRemove(let values): "{\"$arrayRemove\": \(list(values))}"
    }
  }

  /// Whether two mutations have the same effect, regardless of the order of their transforms.
  private static func isSame(_ left: Mutation, _ right: Mutation) -> Bool {
    func sorted(_ mutation: Mutation) -> Mutation {
      var mutation = mutation
      mutation.transforms.sort { $0.path.canonicalText < $1.path.canonicalText }
      return mutation
    }
    return sorted(left) == sorted(right)
  }

  // MARK: Queries

  /// The text of a query; `nil` if the query cannot be expressed as text, for example because of cursors.
  func text(of query: FirestoreQuery.Query) -> String? {
    var words = [query.collectionGroup.map { "**/\($0)" } ?? query.path.text]
    if !query.filters.isEmpty { words += ["where", ConditionText.text(of: .and(query.filters), in: database)] }
    if !query.explicitOrderBy.isEmpty {
      let orders = query.explicitOrderBy.map { $0.path.canonicalText + ($0.direction == .descending ? " desc" : "") }
      words += ["order by", orders.joined(separator: ", ")]
    }
    if let limit = query.limit { words += [query.limitType == .last ? "last" : "limit", "\(limit)"] }
    let text = words.joined(separator: " ")
    // A query whose text cannot be parsed has no text form.
    return (try? QueryLine.parse(text, in: database)) == query ? text : nil
  }

  // MARK: Faults and times

  /// The step that sets a fault; `nil` for a fault that has no effect between a client and its backend.
  func step(_ change: FaultChange) -> String? {
    let step = change == .calm ? "calm" : "fault \(FaultText.words(of: change))"
    guard case .client(.request(.fault(let read)))? = action(step), read == change else { return nil }
    return step
  }

  /// A duration in the syntax of steps, in whole milliseconds.
  static func text(of time: Duration) -> String {
    let milliseconds = Int(time / .milliseconds(1))
    return milliseconds.isMultiple(of: 1000) ? "\(milliseconds / 1000)s" : "\(milliseconds)ms"
  }
}
