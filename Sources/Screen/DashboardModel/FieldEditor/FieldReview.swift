// SPDX-License-Identifier: Apache-2.0
package import ClientPort
import FirestoreJSON
package import FirestoreModel

/// The mutation of an edit, exactly as it will be sent, with a row for each field.
package struct FieldReview: Sendable {
  /// The change of one field.
  package struct Row: Hashable, Sendable {
    package enum Change: Hashable, Sendable { case added, modified, removed, computed }

    package var change: Change
    package var name: String
    package var old: String?
    /// The new value, or the transform that the server applies.
    package var new: String

    package init(change: Change, name: String, old: String? = nil, new: String) {
      (self.change, self.name, self.old, self.new) = (change, name, old, new)
    }
  }

  /// The title, such as `update orders/a` or `set orders/a`.
  package let title: String
  package let isNew: Bool
  /// Texts about the write's mask and precondition.
  package let facts: [String]
  package let rows: [Row]
  /// The reason why the write cannot be sent; `nil` if it can be sent.
  package let problem: String?
  /// The write as JSON.
  package let text: String
  package var cursor = Cursor<Int>()

  /// - Parameter exists: whether a document is known to exist at the path where the edit creates a document.
  package init(_ editor: FieldEditor, exists: Bool) {
    isNew = editor.isNew
    let edit = editor.edit
    let place = edit.subject.place
    // An automatic id is created when the edit is sent. The review uses a placeholder.
    let mutation = edit.subject.sample.flatMap { edit.mutation(of: $0) }
    var facts: [String] = []
    switch mutation?.operation {
    case .set(let fields)?:
      title = "set \(place)"
      facts.append("the whole document: \(fields.count) field\(fields.count == 1 ? "" : "s"), no mask")
      if isNew {
        facts.append("only if the document does not exist yet")
      } else {
        facts.append("only if the document exists")
        facts.append("fields that others add in the meantime are lost")
      }
    case .patch(_, let mask)?:
      title = "update \(place)"
      let names = mask.paths.sorted().map(\.canonicalText)
      facts.append(names.isEmpty ? "mask empty: no field is replaced" : "mask \(names.joined(separator: ", "))")
      facts.append("only if the document exists")
    case .delete?, .verify?, nil: title = place
    }
    if case .newDocument = edit.subject { facts.append("the id is created when the write is sent") }
    let arrays = editor.edited.changes.filter { change in
      if case .array? = change.new, case .array? = change.old { true } else { false }
    }
    if !arrays.isEmpty {
      facts.append("written as a whole: \(arrays.map(\.path.canonicalText).joined(separator: ", "))")
    }
    let count = edit.transforms.count
    if count > 0 { facts.append("\(count) transform\(count == 1 ? "" : "s"), which the server computes") }
    self.facts = facts
    rows =
      editor.edited.changes.map { Row($0, in: editor.database) }
      + edit.transforms.map { transform in
        Row(
          change: .computed, name: transform.path.canonicalText,
          old: edit.base[transform.path].map { Self.text(of: $0, in: editor.database) },
          new: Self.text(of: transform.operation, in: editor.database))
      }
    text = mutation.map { WriteJSON.text(of: [$0], relativeTo: editor.database) } ?? ""
    problem = exists ? "the document already exists: E edits it" : Self.problem(of: mutation, edit, in: editor.database)
  }

  private static func problem(of mutation: Mutation?, _ edit: FieldEdit, in database: DatabaseID) -> String? {
    guard let mutation else { return "nothing was changed" }
    do throws(ModelError) {
      try mutation.validateForWrite()
      try mutation.checkReferences(stayIn: database)
      try Document(key: mutation.key, version: nil, state: .found(DocumentData(edit.fields))).validateSize()
      return nil
    } catch { return error.message }
  }

  /// The maximum count of elements that are shown. For longer arrays, only the element count is shown.
  private static let mostElements = 20

  /// The value as text with its elements. If there are too many elements, the text contains only their count.
  fileprivate static func text(of value: Value, in database: DatabaseID) -> String {
    switch value {
    case .array(let values) where values.count > mostElements: ValueText.short(value)
    case .map(let fields) where fields.count > mostElements: ValueText.short(value)
    case .vector(let elements) where elements.count > mostElements: ValueText.short(value)
    case .array, .map, .vector, .bytes: String(DocumentJSON.line(of: value, relativeTo: database).prefix(250))
    case .timestamp(let time): time.rfc3339Text
    default: ValueText.short(value)
    }
  }

  private static func text(of operation: FieldTransform.Operation, in database: DatabaseID) -> String {
    switch operation {
    case .serverTimestamp: "the server's time"
    case .increment(let value): "increment by \(ValueText.short(value))"
    case .minimum(let value): "minimum of it and \(ValueText.short(value))"
    case .maximum(let value): "maximum of it and \(ValueText.short(value))"
    case .arrayUnion(let values): "array union with \(text(of: .array(values), in: database))"
    case .arrayRemove(let values): "array without \(text(of: .array(values), in: database))"
    }
  }
}

extension FieldReview.Row {
  fileprivate init(_ change: FieldChange, in database: DatabaseID) {
    name = change.path.canonicalText
    old = change.old.map { FieldReview.text(of: $0, in: database) }
    new = change.new.map { FieldReview.text(of: $0, in: database) } ?? "deleted"
    self.change = change.old == nil ? .added : change.new == nil ? .removed : .modified
  }
}

extension FieldEdit {
  /// This edit as an update that contains only the changes.
  package var updating: FieldEdit {
    FieldEdit(subject: subject, base: base, fields: fields, transforms: transforms)
  }

  /// The mutation of the edit; `nil` if the document would not change.
  package func mutation(of key: DocumentKey) -> Mutation? {
    guard case .document = subject else {
      return Mutation(key: key, operation: .set(fields), precondition: .exists(false), transforms: transforms)
    }
    if replaces {
      return Mutation(key: key, operation: .set(fields), precondition: .exists(true), transforms: transforms)
    }
    let mask = FieldChange.written(base, fields).map(\.path)
    guard !mask.isEmpty || !transforms.isEmpty else { return nil }
    var patch = Fields()
    for path in mask { patch[path] = fields[path] }
    return Mutation(
      key: key, operation: .patch(patch, FieldMask(mask)), precondition: .exists(true), transforms: transforms)
  }
}

extension FieldEdit.Subject {
  /// The path of the document, or of the collection for a new document.
  package var place: String {
    switch self {
    case .document(let key), .documentToCreate(let key): key.path.text
    case .newDocument(let collection): "a new document in \(collection.text)"
    }
  }

  /// The subject of an edit of the same document in the user's text editor.
  package var request: EditRequest.Subject {
    switch self {
    case .document(let key): .document(key)
    case .documentToCreate(let key): .documentToCreate(key)
    case .newDocument(let collection): .newDocument(in: collection)
    }
  }

  /// The document's key, or a placeholder if the document will get an automatic id.
  var sample: DocumentKey? {
    switch self {
    case .document(let key), .documentToCreate(let key): key
    case .newDocument(let collection): DocumentKey(collection.appending("id"))
    }
  }
}
