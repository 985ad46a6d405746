// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// A write of this client that replaced values which its author had not seen.
package struct WriteConflict: Codable, Hashable, Sendable {
  /// One field; a value of `nil` stands for no such field.
  package struct Field: Codable, Hashable, Sendable {
    package var path: FieldPath
    /// The value that the author saw.
    package var base: Value?
    /// The value that was written.
    package var mine: Value?
    /// The value that the server had.
    package var theirs: Value?

    package init(path: FieldPath, base: Value?, mine: Value?, theirs: Value?) {
      self.path = path
      self.base = base
      self.mine = mine
      self.theirs = theirs
    }
  }

  package var batch: BatchID
  package var key: DocumentKey
  package var fields: [Field]
  /// The time at which the server applied the write.
  package var commitTime: SnapshotVersion

  package init(batch: BatchID, key: DocumentKey, fields: [Field], commitTime: SnapshotVersion) {
    self.batch = batch
    self.key = key
    self.fields = fields
    self.commitTime = commitTime
  }
}

/// An edited document in which edited fields were changed while the editor was open, with the writes that are possible.
package struct EditConflict: Codable, Equatable, Sendable {
  /// The state in which the edit can be resumed.
  package enum Again: Codable, Equatable, Sendable {
    /// The edited text, with the others' changes in it.
    case text(EditRequest)
    /// The field editor, with the document as others have left it; `nil` if it was deleted.
    case fields(over: Fields?)
  }

  package var key: DocumentKey
  /// Every field that either side changed.
  package var fields: [WriteConflict.Field]
  /// Whether the document was deleted meanwhile.
  package var isDeleted: Bool
  /// The edited fields, over the others' values.
  package var overwriting: [Mutation]
  /// The edited fields that no other client changed; empty if there are none.
  package var keepingTheirs: [Mutation]
  /// The document as the edited text has it.
  package var replacing: [Mutation]
  /// The edit to be resumed, with the others' changes.
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

/// A write that cannot be undone, or redone, without overwriting later changes.
package struct UndoConflict: Codable, Equatable, Sendable {
  package struct Document: Codable, Equatable, Sendable {
    package var key: DocumentKey
    /// The fields as the write left them; `nil` if the document did not exist.
    package var left: Fields?
    /// The fields as they are now.
    package var now: Fields?
    /// The write to the document that undoing comes to.
    package var writing: Writing

    package init(key: DocumentKey, left: Fields?, now: Fields?, writing: Writing) {
      self.key = key
      self.left = left
      self.now = now
      self.writing = writing
    }
  }

  /// The write to one document, with its fields as the undone write left them, as they are, and as they will be.
  package struct Writing: Codable, Equatable, Sendable {
    package enum Operation: Codable, Equatable, Sendable { case fields, document, deletion }

    package var operation: Operation
    package var fields: [WriteConflict.Field]

    package init(_ operation: Operation, _ fields: [WriteConflict.Field]) {
      self.operation = operation
      self.fields = fields
    }

    /// - Parameters:
    ///   - mutation: what is to be written.
    ///   - left: the fields as the earlier write left them.
    package init(_ mutation: Mutation, left: Fields?, now: Fields?) {
      var document = FirestoreModel.Document(
        key: mutation.key, version: nil, state: now.map { .found(DocumentData($0)) } ?? .missing)
      _ = mutation.applyLocally(to: &document, previousMask: .none, at: Timestamp(seconds: 0))
      let result = document.data?.fields
      let paths: [FieldPath]
      switch mutation.operation {
      case .patch(_, let mask):
        operation = .fields
        paths = mask.paths.union(mutation.transforms.map(\.path)).sorted()
      case .set, .verify:
        operation = .document
        paths = FieldChange.between(now ?? Fields(), result ?? Fields()).map(\.path)
      case .delete:
        operation = .deletion
        paths = FieldChange.between(left ?? Fields(), now ?? Fields()).map(\.path)
      }
      fields = paths.map {
        WriteConflict.Field(path: $0, base: left?[$0], mine: result?[$0], theirs: now?[$0])
      }
    }
  }

  package var batch: BatchID
  /// Whether the write is to be redone.
  package var isRedo: Bool
  package var documents: [Document]

  package init(batch: BatchID, isRedo: Bool, documents: [Document]) {
    self.batch = batch
    self.isRedo = isRedo
    self.documents = documents
  }
}
