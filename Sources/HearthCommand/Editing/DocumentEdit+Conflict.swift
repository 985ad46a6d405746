// SPDX-License-Identifier: Apache-2.0
import Dashboard
import FirestoreJSON
import FirestoreModel

/// How an edit stands to what became of its document while the editor was open.
enum EditStanding: Equatable {
  /// The document is as the editor got it.
  case alone
  /// Others changed fields that the edit leaves alone.
  case beside([FieldPath])
  /// Others changed what the edit changes.
  case conflict(EditConflict)
}

extension DocumentEdit {
  /// - Parameters:
  ///   - mutations: what the edit asks to be written.
  ///   - now: the document as the cache knows it; `nil` if it does not.
  /// - Throws: `JSONError` for an edited text that cannot be read.
  static func standing(
    of request: EditRequest, edited: String, _ mutations: [Mutation], now: Document?, database: DatabaseID
  ) throws(JSONError) -> EditStanding {
    guard case .document(let key) = request.subject, let now, now.state != .unknown,
      case .patch(let patch, let mask)? = mutations.first?.operation, let transforms = mutations.first?.transforms
    else { return .alone }
    let before = try DocumentJSON.parse(request.original, database: database)
    let mine = try DocumentJSON.parse(edited, database: database)
    // By way of the text, as the edit came.
    let text = DocumentJSON.text(of: now.data?.fields ?? Fields())
    let theirs = try DocumentJSON.parse(text, database: database)
    // Of what the server had still to compute, the editor had no value.
    let open = Set(before.transforms.map(\.path))
    let changed =
      now.exists
      ? changedPaths(from: before.fields, to: theirs.fields).filter { !open.contains($0) }
      : changedPaths(from: before.fields, to: Fields())
    if changed.isEmpty, now.exists { return .alone }
    let written = mask.paths.union(transforms.map(\.path))
    let disputed = written.filter { path in
      changed.contains { $0.isPrefix(of: path) || path.isPrefix(of: $0) } && mine.fields[path] != theirs.fields[path]
    }
    if disputed.isEmpty, now.exists { return .beside(changed) }

    let paths = (written.union(changed)).sorted()
    let fields = paths.map { path in
      WriteConflict.Field(
        path: path, base: before.fields[path], mine: mine.fields[path], theirs: theirs.fields[path])
    }
    var kept = Fields()
    let undisputed = mask.paths.subtracting(disputed)
    for path in undisputed { kept[path] = patch[path] }
    let others = transforms.filter { !disputed.contains($0.path) }
    let keeping =
      undisputed.isEmpty && others.isEmpty || !now.exists
      ? []
      : [
        Mutation(
          key: key, operation: .patch(kept, FieldMask(undisputed)), precondition: .exists(true), transforms: others)
      ]
    // Where a document is gone, there is nothing to merge with: the text is offered as it is.
    var again = EditRequest(now.exists ? .document(key) : request.subject, text: now.exists ? text : request.original)
    again.text = now.exists ? DocumentJSON.text(of: theirs.fields.patched(with: mine.fields, at: mask)) : edited
    return .conflict(
      EditConflict(
        key: key, fields: fields, isDeleted: !now.exists, overwriting: mutations, keepingTheirs: keeping,
        replacing: [Mutation(key: key, operation: .set(mine.fields), transforms: mine.transforms)], again: again))
  }
}
