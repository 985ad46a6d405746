// SPDX-License-Identifier: Apache-2.0
package import ClientPort
package import FirestoreClientState
package import FirestoreModel
package import FirestoreQuery
package import TerminalCanvas

/// Describes one changed document: the side that changed it, its batch and the change. The description is based on the
/// document. The snapshot's causes only add facts that the document does not show.
package struct ChangeSummary {
  package let change: ListenerSnapshot.Change
  package let causes: CausesOfChanges
  package let query: Query
  package var isFromCache = false
  package let writes: WriteQueue
  /// The display order of the document's fields.
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

  /// Whether this device, not the backend, caused the document's current state.
  package var isLocal: Bool {
    if change.after.hasLocalMutations { return true }
    return isRemovalUnexplained ? causes.hasLocalWrite : causes.areCancellations
  }

  package var hasPendingWrites: Bool { isRemovalUnexplained ? causes.hasLocalWrite : change.after.hasPendingWrites }

  private var isRemovalUnexplained: Bool { change.kind == .removed && change.now == nil && query.limit == nil }

  /// The unacknowledged batch whose write the document shows.
  package var batch: BatchID? {
    guard isLocal else { return nil }
    return causes.localWrite(to: key) ?? writes.batch(touching: key)
  }

  private var wasPending: Bool { change.previous?.hasPendingWrites == true }

  /// The acknowledged batch whose result the change shows. A document that is no longer pending is not sufficient
  /// evidence: its write may still be unanswered.
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

  /// Whether the server deleted the document and this client has no pending write to it.
  private var isDeletedThere: Bool {
    change.kind == .removed && change.now?.state == .missing && !isLocal && wasAtServer && acknowledged == nil
  }

  /// Whether the server has had the document. A local write hides the server's version but not the creation time.
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

  /// Whether a write of this client creates the document: the server has no earlier state.
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

  /// The first changed fields, or `nil` if none differs.
  private func fields(from old: Document?, to new: Document) -> String? {
    let changes = FieldChange.between(old?.data?.fields ?? Fields(), new.data?.fields ?? Fields())
    return changes.isEmpty ? nil : interest.text(of: changes, in: new, glyphs, limit: 4)
  }
}

/// The causes of a snapshot for single documents. Unread snapshots are merged, so one snapshot can have the causes of
/// several changes.
package struct CausesOfChanges {
  private let causes: [SnapshotCause]
  /// The keys that each of the causing batches wrote. Batches that are not known yet have no entry.
  private var documents: [BatchID: Set<DocumentKey>] = [:]

  package init(_ causes: [SnapshotCause], _ writes: WriteQueue) {
    self.causes = causes
    for cause in causes {
      guard let batch = cause.batch, let keys = writes.documents(of: batch) else { continue }
      documents[batch] = Set(keys)
    }
  }

  var hasLocalWrite: Bool { causes.contains { if case .localWrite = $0 { true } else { false } } }

  /// Whether all causes are canceled writes.
  var areCancellations: Bool {
    !causes.isEmpty && causes.allSatisfy { if case .cancelled = $0 { true } else { false } }
  }

  /// - Parameter guess: the result for a batch with unknown documents.
  private func touches(_ batch: BatchID, _ key: DocumentKey, else guess: Bool = true) -> Bool {
    documents[batch]?.contains(key) ?? guess
  }

  /// The newest write to the document among the causes.
  func localWrite(to key: DocumentKey) -> BatchID? {
    causes.compactMap { if case .localWrite(let batch) = $0, touches(batch, key) { batch } else { nil } }.max()
  }

  /// - Parameter wasPending: whether the document had a pending write.
  package func acknowledgement(of key: DocumentKey, wasPending: Bool) -> BatchID? {
    causes.compactMap { cause in
      if case .acknowledged(let batch) = cause, touches(batch, key, else: wasPending) { batch } else { nil }
    }.max()
  }

  /// The end of a failed or canceled write to the document.
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

/// The display order of a document's fields. The tree's columns of the collection come first, and the times that a
/// write sets to its commit time come last.
package struct FieldInterest: Sendable {
  /// The seconds within which a time counts as the time of the write.
  private static let nearness: Int64 = 10
  /// The count of fields that describe a new document.
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

  /// Whether a value is the time of the write to the document.
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
