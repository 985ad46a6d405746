// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import FirestoreSQLite

/// Evaluates the mutations of one commit in order, without storing anything (PROTOCOL §3.2). Each mutation sees the
/// effects of the previous ones. For each mutation, checks the precondition, and then applies the operation and the
/// transforms.
struct CommitEvaluation {
  /// A document while the commit is evaluated.
  struct WorkingDocument {
    enum Content {
      case missing
      /// A document as stored, not yet decoded. A document that is replaced is never decoded.
      case stored(EncodedFields)
      case fields(Fields)
    }

    let stored: StoredDocument?
    var content: Content
    /// Whether this commit creates the document, possibly after deleting it. A created document gets a new create time.
    var isNew: Bool
    /// The number of transforms in the commit so far.
    var transformCount = 0
    /// The mutations of the document, in order; recorded only if the commit is checked before it is applied.
    var mutations: [Mutation] = []

    fileprivate init(_ stored: StoredDocument?) {
      self.stored = stored
      content = stored.map { .stored($0.fields) } ?? .missing
      isNew = stored == nil
    }

    var exists: Bool { if case .missing = content { false } else { true } }

    var fields: Fields? {
      switch content {
      case .missing: nil
      case .stored(let encoded): encoded.decoded()
      case .fields(let fields): fields
      }
    }

    /// The content in the form that documents store.
    var data: DocumentData? {
      switch content {
      case .missing: nil
      case .stored(let encoded): DocumentData(encoded: encoded)
      case .fields(let fields): DocumentData(fields)
      }
    }

    var encoded: EncodedFields? {
      switch content {
      case .missing: nil
      case .stored(let encoded): encoded
      case .fields(let fields): EncodedFields(fields)
      }
    }
  }

  let database: DatabaseID
  let commitTime: SnapshotVersion
  /// The value of this commit's server timestamps (see `ServerTimestamp`).
  let serverTime: Timestamp
  /// Whether the commit writes server timestamps.
  private(set) var givesServerTime = false
  private(set) var documents: [DocumentKey: WorkingDocument] = [:]
  /// The keys of `documents` in the order of their first use.
  private(set) var order: [DocumentKey] = []
  private(set) var touched: Set<DocumentKey> = []
  private var pendingResults: [(key: DocumentKey, isDelete: Bool, transformResults: [Value])] = []

  /// Whether the evaluation continues after a failing precondition, as if it were met. The failure is recorded.
  private let defersPreconditions: Bool
  /// The first precondition that fails.
  private var failure: StoreError?

  init(database: DatabaseID, commitTime: SnapshotVersion, serverTime: Timestamp, defersPreconditions: Bool = false) {
    self.database = database
    self.commitTime = commitTime
    self.serverTime = serverTime
    self.defersPreconditions = defersPreconditions
  }

  /// - Parameter read: reads the document's state before the commit; called once per key.
  mutating func apply(
    _ mutation: Mutation, read: (DocumentKey) throws(StoreError) -> StoredDocument?
  ) throws(StoreError) {
    try WriteValidation.check(mutation)
    let key = mutation.key
    if documents[key] == nil {
      documents[key] = WorkingDocument(try read(key))
      order.append(key)
    }
    if defersPreconditions { documents[key]?.mutations.append(mutation) }
    documents[key]?.transformCount += mutation.transforms.count
    if documents[key]?.transformCount ?? 0 > WriteLimit.transforms {
      throw .refused(
        .invalidArgument,
        "The commit has more than \(WriteLimit.transforms) field transforms of \(database.name(of: key)). Split the "
          + "commit.")
    }
    do throws(StoreError) { try check(mutation.precondition, of: mutation) } catch {
      guard defersPreconditions else { throw error }
      failure = failure ?? error
    }

    var transformResults: [Value] = []
    switch mutation.operation {
    case .set(let new):
      try finish(mutation, with: new.truncatingTimestamps, &transformResults)
    case .patch(let new, let mask):
      let new = new.truncatingTimestamps
      let mask = mask.paths.contains(.documentID) ? FieldMask(mask.paths.subtracting([.documentID])) : mask
      let patched = (documents[key]?.fields ?? Fields()).patched(with: new, at: mask)
      try finish(mutation, with: patched, &transformResults)
    case .delete:
      documents[key]?.content = .missing
      documents[key]?.isNew = true
      touched.insert(key)
    case .verify: break
    }
    pendingResults.append((key, mutation.operation.isDelete, transformResults))
  }

  private mutating func finish(
    _ mutation: Mutation, with fields: Fields, _ transformResults: inout [Value]
  ) throws(StoreError) {
    var fields = fields
    for transform in mutation.transforms {
      if transform.operation == .serverTimestamp { givesServerTime = true }
      transformResults.append(try transform.apply(to: &fields, at: serverTime))
    }
    documents[mutation.key]?.content = .fields(fields)
    touched.insert(mutation.key)
  }

  private func check(_ precondition: Precondition, of mutation: Mutation) throws(StoreError) {
    if precondition == .none { return }
    let name = database.name(of: mutation.key)
    let working = documents[mutation.key]
    let exists = working?.exists ?? false
    switch precondition {
    case .none: break
    case .exists(true) where !exists: throw .refused(.notFound, "No document to update: \(name)")
    case .exists(false) where exists:
      throw .refused(.alreadyExists, "Document already exists: \(name)")
    case .exists: break
    case .updateTime(let required):
      guard required.timestamp.nanoseconds % 1000 == 0 else {
        throw .refused(.invalidArgument, "timestamp cannot have more than microseconds precision")
      }
      let current = touched.contains(mutation.key) ? commitTime.microseconds : working?.stored?.version
      let stored = exists ? current ?? 0 : 0
      if required.microseconds == stored { break }
      if exists, required.microseconds > stored {
        throw .refused(
          .invalidArgument,
          "Invalid base version, it is greater than the stored version: \(required.microseconds) > \(stored): \(name)")
      }
      throw .refused(
        .failedPrecondition,
        "the stored version (\(stored)) does not match the required base version (\(required.microseconds)): \(name)")
    }
  }

  /// - Throws: `refused` if a precondition failed.
  func checkPreconditions() throws(StoreError) { if let failure { throw failure } }

  /// Encodes the results, checks their sizes and drops documents that the commit leaves unchanged.
  /// - Returns: one result per mutation, and the documents to store.
  mutating func finish() throws(StoreError) -> (results: [MutationResult], changed: [WorkingDocument.Change]) {
    var changed: [WorkingDocument.Change] = []
    var versions: [DocumentKey: Int64] = [:]
    for key in order {
      guard let working = documents[key] else { continue }
      let encoded = working.encoded
      if let encoded, case .fields(let fields) = working.content {
        try WriteValidation.checkSize(of: key, encoded, fields, in: database)
      }
      let isUnchanged =
        working.stored == nil
        ? encoded == nil : !working.isNew && encoded?.bytes == working.stored?.fields.bytes
      if isUnchanged {
        versions[key] = working.stored?.version
        continue
      }
      let created = working.isNew ? commitTime.microseconds : working.stored?.created ?? commitTime.microseconds
      let new = encoded.map {
        StoredDocument(key: key, version: commitTime.microseconds, created: created, fields: $0)
      }
      changed.append(WorkingDocument.Change(key: key, before: working.stored, after: new))
    }
    let results = pendingResults.map { pending in
      let version = pending.isDelete ? nil : versions[pending.key]
      return MutationResult(
        version: version.map { SnapshotVersion(microseconds: $0) } ?? commitTime,
        transformResults: pending.transformResults)
    }
    return (results, changed)
  }
}

extension CommitEvaluation.WorkingDocument {
  /// A document that the commit changes. `before` is `nil` if the commit creates it; `after` is `nil` if the commit
  /// deletes it.
  struct Change {
    let key: DocumentKey
    let before: StoredDocument?
    let after: StoredDocument?
  }
}

extension Mutation.Operation {
  fileprivate var isDelete: Bool { if case .delete = self { true } else { false } }
}

extension FieldTransform {
  /// Applies the transform with the backend's semantics (PROTOCOL §3.2); creates missing maps on the field's path.
  /// - Parameter serverTime: the value of a server timestamp.
  /// - Returns: the field's new value, or `null` for array transforms.
  fileprivate func apply(to fields: inout Fields, at serverTime: Timestamp) throws(StoreError) -> Value {
    switch operation {
    case .increment(let operand), .minimum(let operand), .maximum(let operand):
      if !operand.isNumber { throw .refused(.invalidArgument, "Input must be int64 or double.") }
    case .serverTimestamp, .arrayUnion, .arrayRemove: break
    }
    let value = operation.backendResult(previous: fields[path], at: serverTime)
    fields[path] = value
    switch operation {
    case .arrayUnion, .arrayRemove: return .null
    case .serverTimestamp, .increment, .minimum, .maximum: return value
    }
  }
}

/// A check that accepts or rejects a commit before its preconditions are evaluated. Its error is sent as the response.
package typealias CommitCheck = @Sendable (CommitPreview) throws(RPCStatus) -> Void

/// The effects of a commit, assuming that all its preconditions are met. Valid only while the check of the commit runs.
package final class CommitPreview {
  /// The effect of the commit on one document.
  package struct Entry {
    /// The document before the commit; `nil` if it does not exist.
    package let before: Document?
    package let after: Document?
    /// Whether the commit only verifies the document.
    package let isVerification: Bool
    /// The mutations of the document, in order.
    package let mutations: [Mutation]
  }

  private let evaluation: CommitEvaluation
  private let reader: DocumentReader

  init(_ evaluation: CommitEvaluation, _ reader: DocumentReader) {
    self.evaluation = evaluation
    self.reader = reader
  }

  package var database: DatabaseID { reader.database }
  /// The value of the commit's server timestamps.
  package var time: Timestamp { evaluation.serverTime }
  /// The documents of the commit, in the order of their first use.
  package var keys: [DocumentKey] { evaluation.order }

  /// - Returns: `nil` for a document that the commit does not contain.
  package func entry(_ key: DocumentKey) -> Entry? {
    guard let working = evaluation.documents[key] else { return nil }
    let before = working.stored?.document
    var after: Document?
    if let data = working.data {
      let created = working.isNew ? nil : before?.createTime
      after = Document(
        key: key, version: evaluation.commitTime, createTime: created ?? evaluation.commitTime, state: .found(data))
    }
    return Entry(
      before: before, after: after, isVerification: !evaluation.touched.contains(key),
      mutations: working.mutations)
  }

  /// A stored document of the database; `nil` if it does not exist.
  package func stored(_ key: DocumentKey) throws(RPCStatus) -> Document? {
    do throws(StoreError) { return try reader.stored(key)?.document } catch { throw error.status }
  }

  /// A document of the database after the commit; `nil` if it does not exist.
  package func after(_ key: DocumentKey) throws(RPCStatus) -> Document? {
    if let entry = entry(key) { return entry.after }
    return try stored(key)
  }
}
