// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreModel

/// A field whose values differ between two versions of a document.
package struct FieldDifference: Hashable, Sendable {
  let path: FieldPath
  /// The value as JSON, references relative to their own database; `nil` if the side has none.
  let before: String?
  let after: String?

  /// The fields of one version of a document, and their database.
  struct Side {
    var fields: Fields
    var database: DatabaseID
  }

  /// The differences by path; maps on both sides are compared inside.
  static func between(_ before: Side, _ after: Side, below parent: FieldPath? = nil) -> [FieldDifference] {
    let names = Fields(before.fields.entries + after.fields.entries).entries.map(\.name)
    return names.flatMap { name -> [FieldDifference] in
      let path = parent?.appending(name) ?? FieldPath(name)
      let (old, new) = (before.fields[name], after.fields[name])
      if case .map(let old)? = old, case .map(let new)? = new {
        return between(
          Side(fields: old, database: before.database), Side(fields: new, database: after.database), below: path)
      }
      let texts = (
        old.map { DocumentJSON.line(of: $0, relativeTo: before.database) },
        new.map { DocumentJSON.line(of: $0, relativeTo: after.database) }
      )
      return texts.0 == texts.1 ? [] : [FieldDifference(path: path, before: texts.0, after: texts.1)]
    }
  }
}
