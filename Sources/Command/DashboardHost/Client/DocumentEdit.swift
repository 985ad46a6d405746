// SPDX-License-Identifier: Apache-2.0
package import ClientPort
import CommandTransfer
import Dashboard
package import DashboardModel
package import FirestoreJSON
package import FirestoreModel

/// Determines the writes that correspond to an edited text.
package enum DocumentEdit {
  /// - Returns: the mutations of one batch. Empty if the edited text has the same meaning as the original text.
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
      // The editor's initial text is the version that the user saw; only the changes to it are written.
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

  /// The smallest set of paths whose values differ. If both values are maps, the set contains the paths inside the
  /// maps.
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

/// The relation between an edit and the changes that other clients made while the editor was open.
package enum EditStatus: Equatable {
  /// The document has not changed since the editor was opened.
  case alone
  /// Other clients changed only fields that the edit does not change. The value contains these fields.
  case beside([FieldPath])
  /// Other clients changed fields that the edit also changes.
  case conflict(EditConflict)
}

extension DocumentEdit {
  /// - Parameters:
  ///   - mutations: the writes of the edit.
  ///   - now: the cached document; `nil` if unknown.
  /// - Throws: `JSONError` for an invalid edited text.
  package static func status(
    of request: EditRequest, edited: String, _ mutations: [Mutation], now: Document?, database: DatabaseID
  ) throws(JSONError) -> EditStatus {
    guard case .document(let key) = request.subject, let now, now.state != .unknown,
      case .patch(_, let mask)? = mutations.first?.operation, let transforms = mutations.first?.transforms
    else { return .alone }
    let before = try DocumentJSON.parse(request.original, database: database)
    let mine = try DocumentJSON.parse(edited, database: database)
    // The server's fields take the same round trip through text as the edited ones, so that both compare equally.
    let text = DocumentJSON.text(of: now.data?.fields ?? Fields())
    let theirs = try DocumentJSON.parse(text, database: database)
    // Fields that the server had yet to compute had no value in the editor.
    let open = Set(before.transforms.map(\.path))
    return status(
      of: Edited(
        key: key, mutations: mutations, written: mask.paths.union(transforms.map(\.path)), before: before.fields,
        unresolved: open, mine: mine.fields, shown: mine.fields, transforms: mine.transforms),
      now: now, theirs: theirs.fields
    ) { isThere, mask in
      // A deleted document cannot be merged: the text is offered unchanged.
      var again = EditRequest(isThere ? .document(key) : request.subject, text: isThere ? text : request.original)
      again.text = isThere ? DocumentJSON.text(of: theirs.fields.patched(with: mine.fields, at: mask)) : edited
      return .text(again)
    }
  }

  /// Compares an edit of fields with the cached document. Returns `.alone` if the document is not cached.
  package static func status(of edit: FieldEdit, _ mutation: Mutation, now: Document?) -> EditStatus {
    guard let now, now.state != .unknown else { return .alone }
    if edit.replaces { return status(ofWhole: edit, mutation, now: now) }
    guard case .patch(_, let mask) = mutation.operation else { return .alone }
    let theirs = now.data?.fields ?? Fields()
    var shown = edit.fields
    var written = mask.paths
    // A server timestamp replaces the value of other clients. Other transforms start from that value.
    for transform in edit.transforms where transform.operation == .serverTimestamp {
      written.insert(transform.path)
      shown[transform.path] = .serverTimestamp(ServerTimestamp(localWriteTime: Timestamp(seconds: 0), previous: nil))
    }
    // Fields that the server computes are not sent as values, whether or not it has computed them.
    let unresolved = unresolvedPaths(in: edit.base)
    var mine = edit.fields
    for path in unresolved { if case .serverTimestamp? = mine[path] { mine[path] = theirs[path] } }
    return status(
      of: Edited(
        key: mutation.key, mutations: [mutation], written: written, before: edit.base,
        unresolved: Set(unresolved), mine: mine, shown: shown, transforms: edit.transforms),
      now: now, theirs: theirs
    ) { isThere, _ in .fields(over: isThere ? theirs : nil) }
  }

  /// Compares an edit that replaces the whole document. All changes by other clients would be lost.
  private static func status(ofWhole edit: FieldEdit, _ mutation: Mutation, now: Document) -> EditStatus {
    let update = edit.updating.mutation(of: mutation.key)
    if let update, case .conflict(let conflict) = status(of: edit.updating, update, now: now) {
      return .conflict(conflict)
    }
    let theirs = now.data?.fields ?? Fields()
    let unresolved = unresolvedPaths(in: edit.base)
    let changed = changedPaths(from: edit.base, to: theirs).filter { !unresolved.contains($0) }
    if changed.isEmpty { return .alone }
    let written = changedPaths(from: edit.base, to: edit.fields)
    let fields = Set(written + changed).sorted().map { path in
      WriteConflict.Field(path: path, base: edit.base[path], mine: edit.fields[path], theirs: theirs[path])
    }
    return .conflict(
      EditConflict(
        key: mutation.key, fields: fields, isDeleted: false, overwriting: [mutation],
        keepingTheirs: update.map { [$0] } ?? [], replacing: [mutation], again: .fields(over: theirs)))
  }

  /// A notice about changes by other clients that do not conflict with the edit.
  package static func notice(about others: [FieldPath]) -> String {
    let names = others.prefix(3).map(\.canonicalText).joined(separator: ", ")
    let more = others.count > 3 ? " and \(others.count - 3) more" : ""
    return "Other clients changed \(names)\(more) in the meantime; only your fields are written."
  }

  /// An edit that was made in the text editor or the field editor.
  private struct Edited {
    var key: DocumentKey
    var mutations: [Mutation]
    /// The paths of the fields that the edit replaces.
    var written: Set<FieldPath>
    var before: Fields
    /// The fields that the server had not yet computed when the edit began.
    var unresolved: Set<FieldPath>
    var mine: Fields
    /// The fields that are shown in a conflict.
    var shown: Fields
    var transforms: [FieldTransform]
  }

  private static func status(
    of edit: Edited, now: Document, theirs: Fields, again: (_ isThere: Bool, FieldMask) -> EditConflict.Again
  ) -> EditStatus {
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

  /// The paths of fields that the server has not yet computed.
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
