// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import TerminalCanvas

/// What is told of one changed document: whose change it is, which batch is behind it, and what happened. It follows the
/// document; the snapshot's causes only add what a document does not show.
struct ChangeAccount {
  let change: ListenerSnapshot.Change
  let causes: CausesOfChanges
  let query: Query
  var isFromCache = false
  let writes: WriteQueue
  /// What of the document is worth saying first.
  let interest: FieldInterest
  let glyphs: Glyphs

  private var key: DocumentKey { change.document.key }

  /// Whether this device, and not the backend, is behind the document as it is now.
  var isLocal: Bool {
    if change.after.hasLocalMutations { return true }
    return isRemovalUnexplained ? causes.hasLocalWrite : causes.areCancellations
  }

  var hasPendingWrites: Bool { isRemovalUnexplained ? causes.hasLocalWrite : change.after.hasPendingWrites }

  private var isRemovalUnexplained: Bool { change.kind == .removed && change.now == nil && query.limit == nil }

  /// The unacknowledged batch that the document shows.
  var batch: BatchID? {
    guard isLocal else { return nil }
    return causes.localWrite(to: key) ?? writes.batch(touching: key)
  }

  /// The batch whose acknowledgement this is.
  var acknowledged: BatchID? {
    if let batch = causes.acknowledgement(of: key) { return batch }
    // The acknowledgement alone changes nothing to see: the document counts as pending until the watch stream has it.
    guard change.previous?.hasPendingWrites == true, !change.after.hasPendingWrites, causes.end(of: key) == nil else {
      return nil
    }
    return writes.confirmedBatch(of: key)
  }

  var kind: FeedRow.Kind { FeedRow.Kind(change.kind) }

  var summary: String {
    if let end = causes.end(of: key) { return end }
    guard let acknowledged else { return contents }
    let acknowledgement = Self.acknowledgement(of: acknowledged, after: writes.acknowledgements[acknowledged])
    return change.kind == .metadata ? acknowledgement : acknowledgement + " \(glyphs.bullet) " + contents
  }

  /// - Parameter time: from sending to the answer, where it is known.
  static func acknowledgement(of batch: BatchID, after time: Duration?) -> String {
    "ack \(batch)" + (time.map { " in " + TimeText.latency($0) } ?? "")
  }

  /// What was told of an acknowledgement before it was known how long it took, with that.
  static func timed(_ summary: String, of batch: BatchID, after time: Duration) -> String {
    let bare = acknowledgement(of: batch, after: nil)
    guard summary.hasPrefix(bare), !summary.hasPrefix(bare + " in ") else { return summary }
    return acknowledgement(of: batch, after: time) + summary.dropFirst(bare.count)
  }

  private var contents: String {
    switch change.kind {
    case .removed: return removal
    case .added:
      guard change.document.exists else { return "content unknown" }
      let headline = interest.headline(of: change.document, glyphs)
      return isLocal ? "new \(glyphs.bullet) \(headline)" : headline
    case .metadata:
      return change.document.hasPendingWrites ? "pending" : isFromCache ? "from cache" : "confirmed"
    case .modified: return fields(from: change.previous, to: change.document) ?? "no field changed"
    }
  }

  private var removal: String {
    guard let now = change.now else {
      if let limit = query.limit, !isLocal { return "outside the limit of \(grouped(limit))" }
      // Nothing but a deletion takes a document out of a whole collection.
      return query.matchesAllDocuments ? "deleted" : "left the results"
    }
    switch now.state {
    case .missing where now.hasPendingWrites: return "deleted here"
    // It may never have been at the server.
    case .missing where change.document.hasLocalMutations: return "deleted"
    case .missing: return "deleted at the server"
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
struct CausesOfChanges {
  private let causes: [SnapshotCause]
  /// What each batch among the causes wrote; batches of which nothing is known yet are not in it.
  private var documents: [BatchID: Set<DocumentKey>] = [:]

  init(_ causes: [SnapshotCause], _ writes: WriteQueue) {
    self.causes = causes
    for cause in causes {
      guard let batch = cause.batch, let keys = writes.documents(of: batch) else { continue }
      documents[batch] = Set(keys)
    }
  }

  var hasLocalWrite: Bool { causes.contains { if case .localWrite = $0 { true } else { false } } }

  /// Whether all that happened is that writes were taken back.
  var areCancellations: Bool {
    !causes.isEmpty && causes.allSatisfy { if case .cancelled = $0 { true } else { false } }
  }

  private func touches(_ batch: BatchID, _ key: DocumentKey) -> Bool { documents[batch]?.contains(key) ?? true }

  /// The newest write to the document among the causes.
  func localWrite(to key: DocumentKey) -> BatchID? {
    causes.compactMap { if case .localWrite(let batch) = $0, touches(batch, key) { batch } else { nil } }.max()
  }

  func acknowledgement(of key: DocumentKey) -> BatchID? {
    causes.compactMap { if case .acknowledged(let batch) = $0, touches(batch, key) { batch } else { nil } }.max()
  }

  /// How a write to the document came to nothing.
  func end(of key: DocumentKey) -> String? {
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
  /// The batch behind it.
  fileprivate var batch: BatchID? {
    switch self {
    case .localWrite(let batch), .acknowledged(let batch), .rejected(let batch, _), .cancelled(let batch): batch
    default: nil
    }
  }
}
