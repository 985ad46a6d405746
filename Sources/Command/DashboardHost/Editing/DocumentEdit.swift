// SPDX-License-Identifier: Apache-2.0
import Dashboard
package import DashboardModel
package import FirestoreJSON
package import FirestoreModel

/// The writes that an edited text asks for.
package enum DocumentEdit {
  /// - Returns: the mutations of one batch; none if the text means the same as before.
  /// - Throws: `JSONError` with line and column.
  package static func mutations(
    for request: EditRequest, edited: String, database: DatabaseID, newID: () -> String
  ) throws(JSONError) -> [Mutation] {
    switch request.subject {
    case .rejectedWrite:
      return edited == request.original ? [] : try WriteJSON.parse(edited, database: database)
    case .newDocument(let collection):
      let after = try DocumentJSON.parse(edited, database: database)
      if after.fields.isEmpty && after.transforms.isEmpty && edited == request.original { return [] }
      guard let key = DocumentKey(collection.appending(newID())) else {
        throw JSONError(line: 1, column: 1, reason: "\"\(collection)\" is not a collection")
      }
      return [
        Mutation(
          key: key, operation: .set(after.fields), precondition: .exists(false), transforms: after.transforms)
      ]
    case .documentToCreate(let key):
      let after = try DocumentJSON.parse(edited, database: database)
      if after.fields.isEmpty && after.transforms.isEmpty && edited == request.original { return [] }
      return [
        Mutation(
          key: key, operation: .set(after.fields), precondition: .exists(false), transforms: after.transforms)
      ]
    case .document(let key):
      let after = try DocumentJSON.parse(edited, database: database)
      // The editor's first text is what the user saw; only the changes to it are written.
      let before = try DocumentJSON.parse(request.original, database: database)
      var mask = changedPaths(from: before.fields, to: after.fields)
      let transformed = Set(after.transforms.map(\.path))
      mask.removeAll { transformed.contains($0) }
      if mask.isEmpty && after.transforms.isEmpty { return [] }
      var patch = Fields()
      for path in mask { patch[path] = after.fields[path] }
      return [
        Mutation(
          key: key, operation: .patch(patch, FieldMask(mask)), precondition: .exists(true),
          transforms: after.transforms)
      ]
    }
  }

  /// The smallest set of paths whose values differ; inside maps that exist on both sides, the inner paths.
  static func changedPaths(from before: Fields, to after: Fields, at prefix: [String] = []) -> [FieldPath] {
    var names = before.entries.map(\.name)
    for entry in after.entries where before[entry.name] == nil { names.append(entry.name) }
    return names.flatMap { name -> [FieldPath] in
      let path = prefix + [name]
      switch (before[name], after[name]) {
      case (let old?, let new?) where old == new: return []
      case (.map(let old)?, .map(let new)?) where !old.isEmpty && !new.isEmpty:
        return changedPaths(from: old, to: new, at: path)
      default: return [FieldPath(segments: path)]
      }
    }
  }
}
