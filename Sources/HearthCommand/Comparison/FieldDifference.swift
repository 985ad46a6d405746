// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreModel

/// A value that two versions of a document do not share.
struct FieldDifference: Hashable, Sendable {
  let path: FieldPath
  /// As JSON, references relative to their own database; `nil` where there is none.
  let before: String?
  let after: String?

  /// One version of a document's fields, and whose.
  struct Side {
    var fields: Fields
    var database: DatabaseID
  }

  /// The differences by path; of maps on both sides those inside.
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
