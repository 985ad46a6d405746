// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The edit that the field editor asks to be written, with the document that its author saw.
package struct FieldEdit: Equatable, Sendable {
  package enum Subject: Hashable, Sendable {
    /// Change the document.
    case document(DocumentKey)
    /// Create the document, which must not exist yet.
    case documentToCreate(DocumentKey)
    /// Add a document with an automatic id.
    case newDocument(in: ResourcePath)
  }

  package var subject: Subject
  /// The document as its author saw it; empty for one to be created.
  package var base: Fields
  /// The document after the edit; fields that the server computes have their old values.
  package var fields: Fields
  package var transforms: [FieldTransform]
  /// Whether the document is written as a whole, and not only what was changed.
  package var replaces: Bool

  package init(
    subject: Subject, base: Fields, fields: Fields, transforms: [FieldTransform], replaces: Bool = false
  ) {
    self.subject = subject
    self.base = base
    self.fields = fields
    self.transforms = transforms
    self.replaces = replaces
  }

  /// The same edit that writes only what was changed.
  package var updating: FieldEdit {
    FieldEdit(subject: subject, base: base, fields: fields, transforms: transforms)
  }

  /// The mutation that the edit amounts to; `nil` if the document would stay as it is.
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
  /// The path of the document, or of the collection to which it is added.
  package var place: String {
    switch self {
    case .document(let key), .documentToCreate(let key): key.path.text
    case .newDocument(let collection): "a new document in \(collection.text)"
    }
  }

  /// The subject of a text edit of the same document.
  package var request: EditRequest.Subject {
    switch self {
    case .document(let key): .document(key)
    case .documentToCreate(let key): .documentToCreate(key)
    case .newDocument(let collection): .newDocument(in: collection)
    }
  }

  /// A key that stands for the document's.
  var sample: DocumentKey? {
    switch self {
    case .document(let key), .documentToCreate(let key): key
    case .newDocument(let collection): DocumentKey(collection.appending("id"))
    }
  }
}
