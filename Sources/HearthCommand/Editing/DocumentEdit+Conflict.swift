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
      case .patch(_, let mask)? = mutations.first?.operation, let transforms = mutations.first?.transforms
    else { return .alone }
    let before = try DocumentJSON.parse(request.original, database: database)
    let mine = try DocumentJSON.parse(edited, database: database)
    // By way of the text, as the edit came.
    let text = DocumentJSON.text(of: now.data?.fields ?? Fields())
    let theirs = try DocumentJSON.parse(text, database: database)
    // Of what the server had still to compute, the editor had no value.
    let open = Set(before.transforms.map(\.path))
    return standing(
      of: Edited(
        key: key, mutations: mutations, written: mask.paths.union(transforms.map(\.path)), before: before.fields,
        unresolved: open, mine: mine.fields, shown: mine.fields, transforms: mine.transforms),
      now: now, theirs: theirs.fields
    ) { isThere, mask in
      // Where a document is gone, there is nothing to merge with: the text is offered as it is.
      var again = EditRequest(isThere ? .document(key) : request.subject, text: isThere ? text : request.original)
      again.text = isThere ? DocumentJSON.text(of: theirs.fields.patched(with: mine.fields, at: mask)) : edited
      return .text(again)
    }
  }

  /// How an edit of fields stands to the document as the cache knows it; `nil` if it does not.
  static func standing(of edit: FieldEdit, _ mutation: Mutation, now: Document?) -> EditStanding {
    guard let now, now.state != .unknown, case .patch(_, let mask) = mutation.operation else { return .alone }
    let theirs = now.data?.fields ?? Fields()
    var shown = edit.fields
    var written = mask.paths
    // Of the transforms this one puts a value in the place of theirs; the others start from theirs.
    for transform in edit.transforms where transform.operation == .serverTimestamp {
      written.insert(transform.path)
      shown[transform.path] = .serverTimestamp(ServerTimestamp(localWriteTime: Timestamp(seconds: 0), previous: nil))
    }
    // Nor is what the server has still to compute sent as a value: it has done so, or not.
    let unresolved = unresolvedPaths(in: edit.base)
    var mine = edit.fields
    for path in unresolved { if case .serverTimestamp? = mine[path] { mine[path] = theirs[path] } }
    return standing(
      of: Edited(
        key: mutation.key, mutations: [mutation], written: written, before: edit.base,
        unresolved: Set(unresolved), mine: mine, shown: shown, transforms: edit.transforms),
      now: now, theirs: theirs
    ) { isThere, _ in .fields(over: isThere ? theirs : nil) }
  }

  /// What is said where nothing has to be asked.
  static func notice(about others: [FieldPath]) -> String {
    let names = others.prefix(3).map(\.canonicalText).joined(separator: ", ")
    let more = others.count > 3 ? " and \(others.count - 3) more" : ""
    return "Somebody else changed \(names)\(more) meanwhile; only your fields are written."
  }

  /// An edit, wherever it was made.
  private struct Edited {
    var key: DocumentKey
    var mutations: [Mutation]
    /// What it replaces.
    var written: Set<FieldPath>
    var before: Fields
    /// Fields that the server had still to compute when the edit began.
    var unresolved: Set<FieldPath>
    var mine: Fields
    /// As it is told.
    var shown: Fields
    var transforms: [FieldTransform]
  }

  private static func standing(
    of edit: Edited, now: Document, theirs: Fields, again: (_ isThere: Bool, FieldMask) -> EditConflict.Again
  ) -> EditStanding {
    guard case .patch(let patch, let mask)? = edit.mutations.first?.operation else { return .alone }
    let changed =
      now.exists
      ? changedPaths(from: edit.before, to: theirs).filter { !edit.unresolved.contains($0) }
      : changedPaths(from: edit.before, to: Fields())
    if changed.isEmpty, now.exists { return .alone }
    let disputed = edit.written.filter { path in
      changed.contains { $0.isPrefix(of: path) || path.isPrefix(of: $0) } && edit.shown[path] != theirs[path]
    }
    if disputed.isEmpty, now.exists { return .beside(changed) }

    let fields = edit.written.union(changed).sorted().map { path in
      WriteConflict.Field(path: path, base: edit.before[path], mine: edit.shown[path], theirs: theirs[path])
    }
    var kept = Fields()
    let undisputed = mask.paths.subtracting(disputed)
    for path in undisputed { kept[path] = patch[path] }
    let others = (edit.mutations.first?.transforms ?? []).filter { !disputed.contains($0.path) }
    let keeping =
      undisputed.isEmpty && others.isEmpty || !now.exists
      ? []
      : [
        Mutation(
          key: edit.key, operation: .patch(kept, FieldMask(undisputed)), precondition: .exists(true),
          transforms: others)
      ]
    return .conflict(
      EditConflict(
        key: edit.key, fields: fields, isDeleted: !now.exists, overwriting: edit.mutations, keepingTheirs: keeping,
        replacing: [Mutation(key: edit.key, operation: .set(edit.mine), transforms: edit.transforms)],
        again: again(now.exists, mask)))
  }

  /// Fields whose value the server has still to compute.
  private static func unresolvedPaths(in fields: Fields, below parent: [String] = []) -> [FieldPath] {
    fields.entries.flatMap { name, value -> [FieldPath] in
      switch value {
      case .serverTimestamp: [FieldPath(segments: parent + [name])]
      case .map(let inner): unresolvedPaths(in: inner, below: parent + [name])
      default: []
      }
    }
  }
}
