// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
package import FirestoreQuery
package import TerminalCanvas

/// The account of one changed document: the side that changed it, its batch, and the change. It follows the document;
/// the snapshot's causes only add facts that a document does not show.
package struct ChangeAccount {
  package let change: ListenerSnapshot.Change
  package let causes: CausesOfChanges
  package let query: Query
  package var isFromCache = false
  package let writes: WriteQueue
  /// The order in which fields of the document are worth telling.
  package let interest: FieldInterest
  package let glyphs: Glyphs

  package init(
    change: ListenerSnapshot.Change, causes: CausesOfChanges, query: Query, isFromCache: Bool = false,
    writes: WriteQueue, interest: FieldInterest, glyphs: Glyphs
  ) {
    self.change = change
    self.causes = causes
    self.query = query
    self.isFromCache = isFromCache
    self.writes = writes
    self.interest = interest
    self.glyphs = glyphs
  }

  private var key: DocumentKey { change.document.key }

  /// Whether this device, and not the backend, caused the document's present state.
  package var isLocal: Bool {
    if change.after.hasLocalMutations { return true }
    return isRemovalUnexplained ? causes.hasLocalWrite : causes.areCancellations
  }

  package var hasPendingWrites: Bool { isRemovalUnexplained ? causes.hasLocalWrite : change.after.hasPendingWrites }

  private var isRemovalUnexplained: Bool { change.kind == .removed && change.now == nil && query.limit == nil }

  /// The unacknowledged batch that the document shows.
  package var batch: BatchID? {
    guard isLocal else { return nil }
    return causes.localWrite(to: key) ?? writes.batch(touching: key)
  }

  private var wasPending: Bool { change.previous?.hasPendingWrites == true }

  /// The acknowledged batch whose result the change shows. A document that is pending no longer is not enough: its write
  /// may be waiting for an answer still.
  package var acknowledged: BatchID? {
    if let batch = causes.acknowledgement(of: key, wasPending: wasPending) { return batch }
    // The browser and the open document tell no causes.
    guard wasPending, !change.after.hasPendingWrites, causes.end(of: key) == nil else { return nil }
    return writes.acknowledgedBatch(of: key)
  }

  package var kind: FeedRow.Kind { FeedRow.Kind(change.kind) }

  package var summary: String {
    if let end = causes.end(of: key) {
      return isDeletedThere ? Self.deletedThere + " \(glyphs.bullet) " + end : end
    }
    guard let acknowledged else { return contents }
    let answer = writes.answers[acknowledged] ?? WriteAnswer(acknowledged)
    return change.kind == .metadata ? answer.text : answer.text + " \(glyphs.bullet) " + contents
  }

  private static let deletedThere = "deleted at the server"

  /// Whether the document is gone by a deletion of the server's that waits for no answer to a write of this client.
  private var isDeletedThere: Bool {
    change.kind == .removed && change.now?.state == .missing && !isLocal && wasAtServer && acknowledged == nil
  }

  /// Whether the server has had the document: a local write hides its version, and leaves the time of its creation.
  private var wasAtServer: Bool { change.document.createTime != nil || change.document.version != nil }

  private var contents: String {
    switch change.kind {
    case .removed: return removal
    case .added:
      guard change.document.exists else { return "content unknown" }
      let headline = interest.headline(of: change.document, glyphs)
      return isCreation ? "new \(glyphs.bullet) \(headline)" : headline
    case .metadata:
      return change.document.hasPendingWrites ? "pending" : isFromCache ? "from cache" : "confirmed"
    case .modified: return fields(from: change.previous, to: change.document) ?? "no field changed"
    }
  }

  /// Whether a write of this client creates the document: the server has no earlier state of it.
  private var isCreation: Bool { isLocal && !wasAtServer }

  private var removal: String {
    guard let now = change.now else {
      if let limit = query.limit, !isLocal { return "outside the limit of \(grouped(limit))" }
      // A document leaves a whole collection only by a deletion.
      return query.matchesAllDocuments ? "deleted" : "left the results"
    }
    switch now.state {
    case .missing where now.hasPendingWrites: return "deleted here"
    case .missing where acknowledged != nil: return "deleted"
    case .missing: return wasAtServer ? Self.deletedThere : "deleted"
    case .unknown: return "left the results \(glyphs.bullet) content unknown"
    case .found:
      let why = fields(from: change.document, to: now).map { " \(glyphs.bullet) " + $0 }
      return "no longer matches" + (why ?? "")
    }
  }

  /// The first changed fields; `nil` if none differs.
  private func fields(from old: Document?, to new: Document) -> String? {
    let changes = FieldChange.between(old?.data?.fields ?? Fields(), new.data?.fields ?? Fields())
    return changes.isEmpty ? nil : interest.text(of: changes, in: new, glyphs, limit: 4)
  }
}

/// The causes of a snapshot, as far as they concern single documents: unread snapshots are merged, so that one may have
/// the causes of several changes.
package struct CausesOfChanges {
  private let causes: [SnapshotCause]
  /// The keys that each batch among the causes wrote; batches that are not known yet have no entry.
  private var documents: [BatchID: Set<DocumentKey>] = [:]

  package init(_ causes: [SnapshotCause], _ writes: WriteQueue) {
    self.causes = causes
    for cause in causes {
      guard let batch = cause.batch, let keys = writes.documents(of: batch) else { continue }
      documents[batch] = Set(keys)
    }
  }

  var hasLocalWrite: Bool { causes.contains { if case .localWrite = $0 { true } else { false } } }

  /// Whether all causes are cancelled writes.
  var areCancellations: Bool {
    !causes.isEmpty && causes.allSatisfy { if case .cancelled = $0 { true } else { false } }
  }

  /// - Parameter guess: the answer for a batch whose documents are not known.
  private func touches(_ batch: BatchID, _ key: DocumentKey, else guess: Bool = true) -> Bool {
    documents[batch]?.contains(key) ?? guess
  }

  /// The newest write to the document among the causes.
  func localWrite(to key: DocumentKey) -> BatchID? {
    causes.compactMap { if case .localWrite(let batch) = $0, touches(batch, key) { batch } else { nil } }.max()
  }

  /// - Parameter wasPending: whether the document waited for a write.
  package func acknowledgement(of key: DocumentKey, wasPending: Bool) -> BatchID? {
    causes.compactMap { cause in
      if case .acknowledged(let batch) = cause, touches(batch, key, else: wasPending) { batch } else { nil }
    }.max()
  }

  /// The end of a write to the document that failed or was cancelled.
  package func end(of key: DocumentKey) -> String? {
    for cause in causes {
      switch cause {
      case .rejected(let batch, let status) where touches(batch, key): return "\(batch) undone: \(status.code.name)"
      case .cancelled(let batch) where touches(batch, key): return "\(batch) taken back"
      default: continue
      }
    }
    return nil
  }
}

extension SnapshotCause {
  /// The batch of the cause.
  fileprivate var batch: BatchID? {
    switch self {
    case .localWrite(let batch), .acknowledged(let batch), .rejected(let batch, _), .cancelled(let batch): batch
    default: nil
    }
  }
}
