// SPDX-License-Identifier: Apache-2.0
package import CommandOptions
import CommandOutput
package import FirestoreModel
import FirestoreProtocol
package import FirestoreQuery
import Spelling

/// Detects fields in a query that no document has, and values of a type that a field never has. Without a note, a
/// mistyped field name or a number in quotes looks like an empty result.
package struct AbsentFields: Sendable {
  private let query: Query
  private let datastore: any Datastore
  private let database: DatabaseID

  package init(of query: Query, _ connection: BackendConnection) {
    (self.query, datastore, database) = (query, connection.datastore, connection.database)
  }

  /// The number of documents that are checked. Servers may charge for reading them.
  private static let sampleSize = 100

  /// - Returns: `nil` if the documents have every field, or if this is unknown.
  func note() async -> String? {
    let conditions = query.filters.flatMap(\.fieldFilters)
    let paths = (conditions.map(\.path) + query.explicitOrderBy.map(\.path)).filter { !$0.isDocumentID }
    guard !paths.isEmpty, let documents = await sample() else { return nil }
    if let note = await note(of: paths, documents) { return note }
    return conditions.lazy.compactMap { otherType($0, documents) }.first
  }

  /// A note about the first field that no document of the whole collection has.
  /// - Returns: `nil` if the documents have every field, or if this is unknown.
  package func note(of paths: [FieldPath]) async -> String? {
    guard !paths.isEmpty, let documents = await sample() else { return nil }
    return await note(of: paths, documents)
  }

  /// A note as from `note(of:)`. First reads at most one document per field, and reads several documents only if a
  /// field is missing.
  func note(ofUnsampled paths: [FieldPath]) async -> String? {
    for path in paths where await isAbsent(path, Self.sampleSize) { return await note(of: [path]) }
    return nil
  }

  /// A question whether the user means an existing field with a similar name.
  package func suggestion(for path: FieldPath) async -> String? {
    guard let documents = await sample(), !documents.contains(where: { $0[path] != nil }) else { return nil }
    return suggestion(for: path, documents)
  }

  private func sample() async -> [Document]? {
    let whole = Query(path: query.path, collectionGroup: query.collectionGroup, limit: Self.sampleSize)
    var pages = DocumentPages(of: whole, at: datastore, database)
    // The note is optional: the result is complete without it.
    guard let documents = try? await pages.next(), !documents.isEmpty else { return nil }
    return documents
  }

  private func note(of paths: [FieldPath], _ documents: [Document]) async -> String? {
    for path in paths where !documents.contains(where: { $0[path] != nil }) {
      guard await isAbsent(path, documents.count) else { continue }
      let hint = suggestion(for: path, documents).map { " \($0)" }
      return "no document of \(place) has the field \(path.canonicalText).\(hint ?? "")"
    }
    return nil
  }

  private func suggestion(for path: FieldPath, _ documents: [Document]) -> String? {
    let names = Set(documents.flatMap { $0.data?.fields.names(below: []) ?? [] })
    return NearestName.suggestion(for: path.canonicalText, among: names.sorted()).map { "Did you mean \($0)?" }
  }

  private var place: String { query.collectionGroup.map { "all collections \($0)" } ?? query.path.text }

  /// Whether a field that the checked documents do not have is missing in the whole collection.
  private func isAbsent(_ path: FieldPath, _ checked: Int) async -> Bool {
    if checked < Self.sampleSize { return true }
    let order = [OrderBy(path)]
    let query = Query(path: query.path, collectionGroup: query.collectionGroup, explicitOrderBy: order, limit: 1)
    // A field without an index cannot be searched.
    return (try? await datastore.keys(of: query.target))?.isEmpty == true
  }

  /// A note about a condition with a value of a type that the field never has in the checked documents.
  private func otherType(_ condition: FieldFilter, _ documents: [Document]) -> String? {
    let values = documents.compactMap { $0[condition.path] }
    let found: [Value]
    let name = condition.path.canonicalText
    switch condition.op {
    case .equal, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual: found = values
    case .arrayContains:
      found = values.flatMap { value in if case .array(let elements) = value { elements } else { [Value]() } }
      if found.isEmpty {
        return types(values).map { "\(name) never has an array with elements. The field has the type \($0)." }
      }
    case .notEqual, .in, .notIn, .arrayContainsAny: return nil
    }
    let wanted = condition.value.kindName
    guard wanted != Value.null.typeName, !found.contains(where: { $0.kindName == wanted }), let types = types(found)
    else { return nil }
    let extent =
      documents.count < Self.sampleSize ? "every document" : "the first \(Self.sampleSize) documents"
    let subject = condition.op == .arrayContains ? "the elements of \(name) have" : "\(name) has"
    return "\(subject) the type \(types) in \(extent) of \(place), but the condition has the type \(wanted)."
  }

  private func types(_ values: [Value]) -> String? {
    let names = Set(values.map(\.kindName)).sorted()
    return names.isEmpty ? nil : names.joined(separator: " or ")
  }
}

extension Value {
  /// The name of the group of types whose values can be compared with each other.
  fileprivate var kindName: String {
    switch self {
    case .integer, .double: "number"
    default: typeName
    }
  }
}

extension Fields {
  /// The names of all fields, including the fields in maps.
  fileprivate func names(below parent: [String]) -> [String] {
    entries.flatMap { name, value -> [String] in
      let path = parent + [name]
      let own = FieldPath(segments: path).canonicalText
      if case .map(let inner) = value { return [own] + inner.names(below: path) }
      return [own]
    }
  }
}
