// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel

/// A write of this client that replaced values that its author had not seen.
package struct WriteConflict: Hashable, Sendable {
  /// A field and its three values. A value is `nil` if the field does not exist.
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

/// A conflict between two clients on one dashboard, as reported to one of these clients.
package struct ClientConflict: Hashable, Sendable {
  package enum Outcome: Hashable, Sendable {
    /// The later write replaced values of the earlier write that the later write's author had not seen. In the fields,
    /// `theirs` is the earlier value and `mine` is the later value. `after` is the time between the two writes,
    /// measured by the server's clock.
    case replaced([WriteConflict.Field], after: Duration)
    /// The later write was rejected. `after` is the time between the two replies, and `effect` is the earlier write's
    /// effect on the document.
    case refused(StatusCode, WrittenDocument.Effect, after: Duration)
  }

  package var key: DocumentKey
  /// The name of the other client.
  package var other: String
  /// The write that this client made.
  package var batch: BatchID
  /// Whether this client's write is the later one.
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

/// The server's reply to a write, with the values that the write's author had seen. The dashboard compares these values
/// to find conflicts between clients.
package struct AnsweredWrite: Equatable, Sendable {
  package var batch: BatchID
  package var mutations: [Mutation]
  /// The time at which the server applied the write; `nil` for a rejected write.
  package var commitTime: SnapshotVersion?
  /// The reason for the rejection; `nil` for an applied write.
  package var refusal: StatusCode?
  /// Whether each document existed at the time of the write, according to the cache of the client that wrote.
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

/// A reason not to undo or redo a write automatically. Either the undo would overwrite later changes, or the original
/// write replaced values that its author had not seen.
package struct UndoConflict: Equatable, Sendable {
  package struct Document: Equatable, Sendable {
    package var key: DocumentKey
    /// The document's fields after the write; `nil` if the document did not exist.
    package var left: Fields?
    /// The document's current fields.
    package var now: Fields?
    /// The change that the undo would make to this document.
    package var writing: Writing

    package init(key: DocumentKey, left: Fields?, now: Fields?, writing: Writing) {
      self.key = key
      self.left = left
      self.now = now
      self.writing = writing
    }
  }

  /// The undo of one document: its fields after the original write, its current fields, and its fields after the undo.
  package struct Writing: Equatable, Sendable {
    package enum Operation: String, Equatable, Sendable { case fields, document, deletion }

    package var operation: Operation
    package var fields: [WriteConflict.Field]

    package init(_ operation: Operation, _ fields: [WriteConflict.Field]) {
      self.operation = operation
      self.fields = fields
    }
  }

  /// The values that the undo of a conflicting write restores.
  package enum Restored: String, Equatable, Sendable {
    /// The values on the server that the write replaced, and that its author had not seen.
    case replaced
    /// The values that the author of the write had seen.
    case seen
  }

  package var batch: BatchID
  /// Whether the conflict is about a redo and not an undo.
  package var isRedo: Bool
  package var documents: [Document]
  /// The conflicts of the original write: the values that it replaced although its author had not seen them. Usually
  /// empty.
  package var conflicts: [WriteConflict]
  package var restored: Restored

  package init(
    batch: BatchID, isRedo: Bool, documents: [Document], conflicts: [WriteConflict] = [], restored: Restored = .replaced
  ) {
    self.batch = batch
    self.isRedo = isRedo
    self.documents = documents
    self.conflicts = conflicts
    self.restored = restored
  }
}
