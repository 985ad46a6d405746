// SPDX-License-Identifier: Apache-2.0
package import ClientPort
package import FirestoreClientState
package import FirestoreModel
package import FirestoreQuery
package import TerminalCanvas

/// Describes how one document changed: what changed, whether this device or the server changed it, and in which batch.
/// The description is derived from the document. The snapshot's causes only add facts that the document does not
/// contain.
package struct ChangeSummary {
  package let change: ListenerSnapshot.Change
  package let causes: CausesOfChanges
  package let query: Query
  package var isFromCache = false
  package let writes: WriteQueue
  /// Determines the display order of the document's fields.
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

  /// Whether this device, not the backend, produced the document's current state.
  package var isLocal: Bool {
    if change.after.hasLocalMutations { return true }
    return isRemovalUnexplained ? causes.hasLocalWrite : causes.areCancellations
  }

  package var hasPendingWrites: Bool { isRemovalUnexplained ? causes.hasLocalWrite : change.after.hasPendingWrites }

  private var isRemovalUnexplained: Bool { change.kind == .removed && change.now == nil && query.limit == nil }

  /// The unacknowledged batch whose write is visible in the document.
  package var batch: BatchID? {
    guard isLocal else { return nil }
    return causes.localWrite(to: key) ?? writes.batch(touching: key)
  }

  private var wasPending: Bool { change.previous?.hasPendingWrites == true }

  /// The batch whose acknowledgement caused the change. It is not enough that the document has no more pending writes,
  /// because its write may still be without a response.
  package var acknowledged: BatchID? {
    if let batch = causes.acknowledgement(of: key, wasPending: wasPending) { return batch }
    // The browser and the open document report no causes.
    guard wasPending, !change.after.hasPendingWrites, causes.end(of: key) == nil else { return nil }
    if let batch = writes.acknowledgedBatch(of: key) { return batch }
    // The status with the answer may follow. Only an answer ends a write without a change of the fields.
    return change.kind == .metadata ? writes.batch(touching: key) : nil
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

  /// Whether the server deleted the document while this client has no pending write to it.
  private var isDeletedThere: Bool {
    change.kind == .removed && change.now?.state == .missing && !isLocal && wasAtServer && acknowledged == nil
  }

  /// Whether the document existed on the server. A local write hides the server's version of the document but not its
  /// creation time.
  private var wasAtServer: Bool { change.document.createTime != nil || change.document.version != nil }

  private var contents: String {
    switch change.kind {
    case .removed: return removal
    case .added:
      guard change.document.exists else { return "content unknown" }
      let headline = interest.headline(of: change.document, glyphs)
      return isCreation ? "new \(glyphs.bullet) \(headline)" : headline
    case .metadata:
      return change.document.hasPendingWrites ? "pending" : isFromCache ? "cached" : "acknowledged"
    case .modified: return fields(from: change.previous, to: change.document) ?? "no field changed"
    }
  }

  /// Whether a write of this client creates the document, because the server has no earlier state of it.
  private var isCreation: Bool { isLocal && !wasAtServer }

  private var removal: String {
    guard let now = change.now else {
      if let limit = query.limit, !isLocal { return "outside the limit of \(grouped(limit))" }
      // Only a deletion removes a document from a whole collection.
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

  /// A summary of the first changed fields; `nil` if the fields are equal.
  private func fields(from old: Document?, to new: Document) -> String? {
    let changes = FieldChange.between(old?.data?.fields ?? Fields(), new.data?.fields ?? Fields())
    return changes.isEmpty ? nil : interest.text(of: changes, in: new, glyphs, limit: 4)
  }
}

/// Finds the causes of a snapshot that apply to a single document. Snapshots that were not read in time are merged, so
/// one snapshot can have the causes of several changes.
package struct CausesOfChanges {
  private let causes: [SnapshotCause]
  /// The document keys that each causing batch wrote. Batches that the client has not reported yet have no entry.
  private var documents: [BatchID: Set<DocumentKey>] = [:]

  package init(_ causes: [SnapshotCause], _ writes: WriteQueue) {
    self.causes = causes
    for cause in causes {
      guard let batch = cause.batch, let keys = writes.documents(of: batch) else { continue }
      documents[batch] = Set(keys)
    }
  }

  var hasLocalWrite: Bool { causes.contains { if case .localWrite = $0 { true } else { false } } }

  /// Whether all causes are cancellations of writes.
  var areCancellations: Bool {
    !causes.isEmpty && causes.allSatisfy { if case .cancelled = $0 { true } else { false } }
  }

  /// - Parameter guess: the value to return if the documents of the batch are unknown.
  private func touches(_ batch: BatchID, _ key: DocumentKey, else guess: Bool = true) -> Bool {
    documents[batch]?.contains(key) ?? guess
  }

  /// The newest batch among the causes that wrote to the document.
  func localWrite(to key: DocumentKey) -> BatchID? {
    causes.compactMap { if case .localWrite(let batch) = $0, touches(batch, key) { batch } else { nil } }.max()
  }

  /// The newest acknowledged batch among the causes that wrote to the document.
  /// - Parameter wasPending: whether the document had a pending write.
  package func acknowledgement(of key: DocumentKey, wasPending: Bool) -> BatchID? {
    causes.compactMap { cause in
      if case .acknowledged(let batch) = cause, touches(batch, key, else: wasPending) { batch } else { nil }
    }.max()
  }

  /// The unsuccessful outcome of a write to the document: failed or canceled.
  package func end(of key: DocumentKey) -> String? {
    for cause in causes {
      switch cause {
      case .rejected(let batch, let status) where touches(batch, key): return "\(batch) rejected: \(status.code.name)"
      case .cancelled(let batch) where touches(batch, key): return "\(batch) canceled"
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

/// Determines the display order of a document's fields. The columns of the collection in the tree come first. Times
/// that a write sets to its commit time come last.
package struct FieldInterest: Sendable {
  /// A time that is at most this many seconds from the write counts as the time of the write.
  private static let nearness: Int64 = 10
  /// The count of fields that are shown to describe a new document.
  private static let headlineFields = 4

  private let ranks: [String: Int]
  private let telling: [String]

  package init(_ statistics: FieldStatistics, picked: [String]?) {
    let first = picked ?? []
    let all = first + statistics.byInterest.filter { !first.contains($0) }
    ranks = Dictionary(all.enumerated().map { ($1, $0) }, uniquingKeysWith: { rank, _ in rank })
    telling = first + statistics.worthColumns.filter { !first.contains($0) }
  }

  /// The changes, most important first.
  package func sorted(_ changes: [FieldChange], of document: Document) -> [FieldChange] {
    let ranked = changes.map { ($0, rank(of: $0, in: document)) }
    return ranked.enumerated().sorted { ($0.element.1, $0.offset) < ($1.element.1, $1.offset) }.map(\.element.0)
  }

  /// The fields, most informative first.
  package func sorted(_ fields: Fields) -> [(name: String, value: Value)] {
    let ranked = fields.entries.enumerated().map { ($1, rank: ranks[$1.name] ?? ranks.count + 1, offset: $0) }
    return ranked.sorted { ($0.rank, $0.offset) < ($1.rank, $1.offset) }.map { ($0.0.name, $0.0.value) }
  }

  /// Names of fields, most informative first.
  func sorted(_ names: [String]) -> [String] {
    names.sorted { left, right in
      let (first, second) = (ranks[left] ?? ranks.count, ranks[right] ?? ranks.count)
      return first == second ? left.compareUTF8(right) == .ascending : first < second
    }
  }

  private func rank(of change: FieldChange, in document: Document) -> Int {
    let last = ranks.count + 1
    if Self.isWriteTime(change.new, of: document) { return last * 2 }
    return ranks[change.path.first] ?? last
  }

  /// Whether a value is the time at which the document was written.
  static func isWriteTime(_ value: Value?, of document: Document) -> Bool {
    switch value {
    case .serverTimestamp?: return true
    case .timestamp(let time)?:
      guard let written = document.version?.timestamp else { return false }
      return max(time, written).wholeSeconds(since: min(time, written)) < nearness
    default: return false
    }
  }

  /// The changes on one line: `status "paid"→"packed" · updatedAt set`.
  package func text(of changes: [FieldChange], in document: Document, _ glyphs: Glyphs, limit: Int) -> String {
    let sorted = sorted(changes, of: document)
    let shown = sorted.prefix(limit).map { change in
      guard case .timestamp? = change.new, Self.isWriteTime(change.new, of: document) else {
        return change.text(arrow: glyphs.arrow)
      }
      return "\(change.path.segments.joined(separator: ".")) set"
    }.joined(separator: " \(glyphs.bullet) ")
    return sorted.count > limit ? shown + " \(glyphs.bullet) \(sorted.count - limit) more" : shown
  }

  /// The fields that describe a new document: `status "new" · total 99.9`.
  func headline(of document: Document, _ glyphs: Glyphs) -> String {
    let fields = document.data?.fields ?? Fields()
    func isTelling(_ name: String) -> Bool { !Self.isWriteTime(fields[name], of: document) }
    let columns = telling.filter { fields[$0] != nil && isTelling($0) }
    // A collection without columns has no field that is more informative than others.
    let told = columns.isEmpty ? sorted(fields).map(\.name).filter(isTelling) : columns
    let names = told.prefix(Self.headlineFields)
    if names.isEmpty { return "\(fields.count) field\(fields.count == 1 ? "" : "s")" }
    return names.compactMap { name in fields[name].map { "\(name) \(ValueText.short($0))" } }
      .joined(separator: " \(glyphs.bullet) ")
  }
}
