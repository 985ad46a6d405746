// SPDX-License-Identifier: Apache-2.0

/// One version of a document: the backend's version, the cached version, or a local view with local writes applied.
package struct Document: Sendable {
  package enum State: Equatable, Sendable {
    /// The document exists with this content.
    case found(DocumentData)
    /// The document is known not to exist.
    case missing
    /// The document exists, or existed at `version`, but its content is unknown, because the client cannot compute the
    /// result of an acknowledged write (SDK: "unknown document").
    case unknown
  }

  /// The state of the local writes that are visible in a document.
  package enum PendingWrites: UInt8, Sendable {
    case none
    /// At least one visible local write is not acknowledged.
    case local
    /// All visible writes are acknowledged, but the backend's version of the document has not arrived yet.
    case committed
  }

  package var key: DocumentKey
  /// The time at which the backend last changed the document. `nil` if only a local write has created the document.
  /// Also `nil` while a local write is visible, because the backend has no such version (SDKs reset the version to
  /// "min").
  package var version: SnapshotVersion?
  package var createTime: SnapshotVersion?
  package var state: State
  package var pending: PendingWrites

  package init(
    key: DocumentKey, version: SnapshotVersion?, createTime: SnapshotVersion? = nil, state: State,
    pending: PendingWrites = .none
  ) {
    self.key = key
    self.version = version
    self.createTime = createTime
    self.state = state
    self.pending = pending
  }

  package var data: DocumentData? {
    if case .found(let data) = state { data } else { nil }
  }

  package var exists: Bool { data != nil }
  package var hasLocalMutations: Bool { pending == .local }
  package var hasCommittedMutations: Bool { pending == .committed }
  package var hasPendingWrites: Bool { pending != .none }

  /// The value at a path. Reads it without decoding the document. The document's own name, `__name__`, is not a field;
  /// queries compare `key` instead.
  package subscript(path: FieldPath) -> Value? { data?[path] }
}

/// The fields of a document, either decoded or as protobuf wire bytes. Wire bytes are decoded when needed.
package struct DocumentData: Sendable {
  package enum Storage: Sendable {
    case decoded(Fields)
    case encoded(EncodedFields)
  }

  package let storage: Storage

  package init(_ fields: Fields) { storage = .decoded(fields) }
  package init(encoded: EncodedFields) { storage = .encoded(encoded) }

  /// All fields. If the data is encoded, each access takes O(size) time, so store the result.
  package var fields: Fields {
    switch storage {
    case .decoded(let fields): fields
    case .encoded(let bytes): bytes.decoded()
    }
  }

  /// The canonical wire bytes.
  package var encoded: EncodedFields {
    switch storage {
    case .decoded(let fields): EncodedFields(fields)
    case .encoded(let bytes): bytes
    }
  }

  /// Compares the field at `path` with `value` in Firestore's total order. Encoded data is compared without decoding
  /// it.
  /// - Returns: `nil` if the field is absent.
  package func compare(_ path: FieldPath, with value: Value) -> Ordering? {
    switch storage {
    case .decoded(let fields): fields[path]?.compare(value)
    case .encoded(let bytes): bytes.compare(path, with: value)
    }
  }

  package subscript(path: FieldPath) -> Value? {
    switch storage {
    case .decoded(let fields): fields[path]
    case .encoded(let bytes): bytes[path]
    }
  }
}

extension DocumentData: Equatable {
  /// Whether the contents are strictly equal, regardless of whether they are decoded or encoded.
  package static func == (left: DocumentData, right: DocumentData) -> Bool {
    if case (.decoded(let left), .decoded(let right)) = (left.storage, right.storage) { return left == right }
    let (first, second) = (left.encoded, right.encoded)
    if first.bytes == second.bytes { return true }
    // Different canonical bytes mean different values, except for the previous value inside an unresolved server
    // timestamp.
    guard first.mayHoldServerTimestamp, second.mayHoldServerTimestamp else { return false }
    return left.fields == right.fields
  }
}

extension Document: Equatable {
  /// Compares the key, the version, the state and the pending-writes flag, but not the create time.
  package static func == (left: Document, right: Document) -> Bool {
    left.key == right.key && left.version == right.version && left.pending == right.pending && left.state == right.state
  }
}
