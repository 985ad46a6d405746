// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel

/// A write of this client that replaced values which its author had not seen.
package struct WriteConflict: Hashable, Sendable {
  /// One field; a value of `nil` stands for no such field.
  package struct Field: Hashable, Sendable {
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

/// A conflict between two clients of one screen, as one of them tells it.
package struct ClientConflict: Hashable, Sendable {
  package enum Outcome: Hashable, Sendable {
    /// The later write replaced values of the earlier one that its author had not seen; in the fields `theirs` is the
    /// earlier value and `mine` the later one. `after` is the time between the two by the server's clock.
    case replaced([WriteConflict.Field], after: Duration)
    /// The later write was refused. `after` is the time between the two answers, and `effect` what the earlier write did
    /// to the document.
    case refused(StatusCode, WrittenDocument.Effect, after: Duration)
  }

  package var key: DocumentKey
  /// The name of the other client.
  package var other: String
  /// This client's own write.
  package var batch: BatchID
  /// Whether this client's write is the later of the two.
  package var isLater: Bool
  package var outcome: Outcome

  package init(key: DocumentKey, other: String, batch: BatchID, isLater: Bool, outcome: Outcome) {
    self.key = key
    self.other = other
    self.batch = batch
    self.isLater = isLater
    self.outcome = outcome
  }
}

/// The server's answer to a write, with what its author had seen: enough to find out between which clients of a screen a
/// conflict was.
package struct AnsweredWrite: Equatable, Sendable {
  package var batch: BatchID
  package var mutations: [Mutation]
  /// The time at which the server applied the write; `nil` for one that it refused.
  package var commitTime: SnapshotVersion?
  /// The reason why it was refused; `nil` for one that was applied.
  package var refusal: StatusCode?
  /// Whether each document existed when the write was made, where its author's cache knew that.
  package var existed: [DocumentKey: Bool]

  package init(
    batch: BatchID, mutations: [Mutation], commitTime: SnapshotVersion?, refusal: StatusCode? = nil,
    existed: [DocumentKey: Bool] = [:]
  ) {
    self.batch = batch
    self.mutations = mutations
    self.commitTime = commitTime
    self.refusal = refusal
    self.existed = existed
  }
}

/// A write that cannot be undone, or redone, without overwriting later changes.
package struct UndoConflict: Equatable, Sendable {
  package struct Document: Equatable, Sendable {
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
  package struct Writing: Equatable, Sendable {
    package enum Operation: String, Equatable, Sendable { case fields, document, deletion }

    package var operation: Operation
    package var fields: [WriteConflict.Field]

    package init(_ operation: Operation, _ fields: [WriteConflict.Field]) {
      self.operation = operation
      self.fields = fields
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
