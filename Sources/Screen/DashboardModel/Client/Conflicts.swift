// SPDX-License-Identifier: Apache-2.0
package import ClientPort
import FirestoreClientState
package import FirestoreModel

/// A conflict in the user's text editor or the field editor: other clients changed fields while they were edited. It
/// contains the writes that could resolve it.
package struct EditConflict: Equatable, Sendable {
  /// The way to resume the edit.
  package enum Again: Equatable, Sendable {
    /// The edited text, merged with the other clients' changes.
    case text(EditRequest)
    /// The field editor, starting from the other clients' version of the document; `nil` if the document was deleted.
    case fields(over: Fields?)
  }

  package var key: DocumentKey
  /// The fields that the user or another client changed.
  package var fields: [WriteConflict.Field]
  /// Whether the document was deleted while it was edited.
  package var isDeleted: Bool
  /// The mutations that write all edited fields. They overwrite the other clients' values.
  package var overwriting: [Mutation]
  /// The mutations that write the edited fields which no other client changed; empty if there are none.
  package var keepingTheirs: [Mutation]
  /// The mutations that replace the document with the edited text.
  package var replacing: [Mutation]
  /// The edit to resume, with the other clients' changes.
  package var again: Again

  package init(
    key: DocumentKey, fields: [WriteConflict.Field], isDeleted: Bool, overwriting: [Mutation],
    keepingTheirs: [Mutation], replacing: [Mutation], again: Again
  ) {
    self.key = key
    self.fields = fields
    self.isDeleted = isDeleted
    self.overwriting = overwriting
    self.keepingTheirs = keepingTheirs
    self.replacing = replacing
    self.again = again
  }
}

extension UndoConflict.Writing {
  /// - Parameters:
  ///   - mutation: the mutation to write.
  ///   - left: the document's fields after the earlier write.
  ///   - now: the current fields of the document.
  package init(_ mutation: Mutation, left: Fields?, now: Fields?) {
    var document = FirestoreModel.Document(
      key: mutation.key, version: nil, state: now.map { .found(DocumentData($0)) } ?? .missing)
    _ = mutation.applyLocally(to: &document, previousMask: .none, at: Timestamp(seconds: 0))
    let result = document.data?.fields
    let (operation, paths): (Operation, [FieldPath])
    switch mutation.operation {
    case .patch(_, let mask):
      (operation, paths) = (.fields, mask.paths.union(mutation.transforms.map(\.path)).sorted())
    case .set, .verify:
      (operation, paths) = (.document, FieldChange.between(now ?? Fields(), result ?? Fields()).map(\.path))
    case .delete:
      (operation, paths) = (.deletion, FieldChange.between(left ?? Fields(), now ?? Fields()).map(\.path))
    }
    self.init(
      operation,
      paths.map { WriteConflict.Field(path: $0, base: left?[$0], mine: result?[$0], theirs: now?[$0]) })
  }
}

extension ClientConflict {
  /// The maximum count of fields in the text.
  private static let mostFields = 2

  /// The conflict as text, names and values first: `conflict: bob replaced n 1 with 2, 12 s later, unseen by bob`,
  /// `conflict: 2 replaced bob's n 1, 12 s later, saw 0`.
  package func text(bullet: String) -> String {
    let parts: [String]
    switch outcome {
    case .replaced(let fields, let after):
      let left = fields.count - Self.mostFields
      let more = left > 0 ? ["\(left) more field\(left == 1 ? "" : "s")"] : []
      parts = fields.prefix(Self.mostFields).map { account(of: $0, after) } + more
    case .refused(let code, let effect, let after):
      let time = TimeText.span(after)
      parts = [
        isLater
          ? "\(other) had \(effect.verb) it; \(batch) was rejected, \(code.name), \(time) later"
          : "\(other)'s write was rejected, \(code.name), \(time) after \(batch) had \(effect.verb) it"
      ]
    }
    return "conflict: " + parts.joined(separator: " \(bullet) ")
  }

  private func account(of field: WriteConflict.Field, _ after: Duration) -> String {
    let path = field.path.canonicalText
    let seen = isLater ? "saw \(field.base.map(ValueText.short) ?? "nothing")" : "unseen by \(other)"
    let end = ", \(TimeText.span(after)) later, \(seen)"
    let (mine, theirs) = (field.mine.map(ValueText.short), field.theirs.map(ValueText.short))
    switch (mine, theirs) {
    case (let mine?, let theirs?):
      return
        (isLater ? "\(mine) replaced \(other)'s \(path) \(theirs)" : "\(other) replaced \(path) \(theirs) with \(mine)")
        + end
    case (let mine?, nil):
      return
        (isLater
        ? "\(mine) replaced \(other)'s removal of \(path)" : "\(other) replaced the removal of \(path) with \(mine)")
        + end
    case (nil, _):
      let removed = theirs.map { "\(path) \($0)" } ?? path
      return (isLater ? "removed \(other)'s \(removed)" : "\(other) removed \(removed)") + end
    }
  }
}

extension WrittenDocument.Effect {
  fileprivate var verb: String {
    switch self {
    case .created: "created"
    case .changed: "changed"
    case .deleted: "deleted"
    }
  }
}
