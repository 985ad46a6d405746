// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import TerminalCanvas

/// Turns a snapshot into feed rows: one per changed document, one for the moment of synchronisation, and one summary
/// where a first snapshot would flood the feed.
struct SnapshotRows {
  var snapshot: ListenerSnapshot
  var listener: ListenerRecord
  var time: Timestamp
  var glyphs: Glyphs
  /// Send-to-acknowledgement of recently acknowledged batches.
  var acknowledgements: [BatchID: Duration]
  /// The batch that wrote a document which has just been confirmed.
  var confirmedBatch: (DocumentKey) -> BatchID?
  /// What of the documents of a collection is worth saying first.
  var interest: (ResourcePath) -> FieldInterest

  /// A first snapshot with more documents becomes one row per kind.
  private static let floodLimit = 6
  /// Later snapshots may report this many documents one by one.
  private static let burstLimit = 200

  func rows() -> [FeedRow] {
    let isFirst = listener.count == nil
    let limit = isFirst ? Self.floodLimit : Self.burstLimit
    var rows: [FeedRow] = []
    if snapshot.changes.count > limit {
      rows = [.added, .modified, .removed].compactMap { summaryRow(of: $0) }
    } else {
      rows = snapshot.changes.map(row)
    }
    if snapshot.syncStateChanged, !snapshot.isFromCache {
      rows.append(
        syncRow(isFirst ? "\(documents(snapshot.count))" : "cache\(glyphs.arrow)server, \(documents(snapshot.count))"))
    } else if rows.isEmpty {
      return [emptyRow(isFirst: isFirst)]
    }
    let why = reasons
    for index in rows.indices where why != nil { rows[index].why = why }
    return rows
  }

  /// Whether this device, not the backend, is behind the snapshot.
  private var isLocal: Bool { snapshot.causes.contains(where: \.isLocal) }

  private func base(_ kind: FeedRow.Kind, _ summary: String) -> FeedRow {
    FeedRow(
      time: time, kind: kind, listener: listener.tag, listenerName: listener.name, isLocal: isLocal,
      isFromCache: snapshot.isFromCache, hasPendingWrites: false, summary: summary)
  }

  private func row(_ change: ListenerSnapshot.Change) -> FeedRow {
    var row = base(kind(of: change), "")
    row.key = change.document.key
    row.document = change.document
    row.previous = change.previous
    row.hasPendingWrites = change.document.hasPendingWrites
    let cause = summary(of: change)
    row.summary = cause.text
    row.batch = cause.batch
    return row
  }

  private func kind(of change: ListenerSnapshot.Change) -> FeedRow.Kind {
    switch change.kind {
    case .added: .added
    case .removed: .removed
    case .modified, .metadata: .modified
    }
  }

  private func summary(of change: ListenerSnapshot.Change) -> (text: String, batch: BatchID?) {
    let what = contents(of: change)
    for cause in snapshot.causes {
      switch cause {
      case .localWrite(let batch): return (what, batch)
      case .acknowledged(let batch):
        return (acknowledgement(of: batch) + (change.kind == .metadata ? "" : " \(glyphs.bullet) " + what), nil)
      case .rejected(let batch, let status): return ("\(batch) undone: \(status.code.name)", nil)
      case .cancelled(let batch): return ("\(batch) taken back", nil)
      default: continue
      }
    }
    // The acknowledgement alone changes nothing to see: the document counts as pending until the watch stream has it.
    if change.previous?.hasPendingWrites == true, !change.document.hasPendingWrites,
      let batch = confirmedBatch(change.document.key)
    {
      return (acknowledgement(of: batch) + (change.kind == .metadata ? "" : " \(glyphs.bullet) " + what), nil)
    }
    return (what, nil)
  }

  private func acknowledgement(of batch: BatchID) -> String {
    "ack \(batch)" + (acknowledgements[batch].map { " in " + TimeText.latency($0) } ?? "")
  }

  private func contents(of change: ListenerSnapshot.Change) -> String {
    switch change.kind {
    case .removed: return removal(change)
    case .added:
      guard change.document.exists else { return "content unknown" }
      let headline = interest(change.document.key.collection).headline(of: change.document, glyphs)
      return isLocal ? "new \(glyphs.bullet) \(headline)" : headline
    case .metadata:
      return change.document.hasPendingWrites ? "pending" : snapshot.isFromCache ? "from cache" : "confirmed"
    case .modified:
      let old = change.previous?.data?.fields ?? Fields()
      let changes = FieldChange.between(old, change.document.data?.fields ?? Fields())
      if changes.isEmpty { return "no field changed" }
      return interest(change.document.key.collection).text(of: changes, in: change.document, glyphs, limit: 4)
    }
  }

  private func removal(_ change: ListenerSnapshot.Change) -> String {
    if case .found = change.document.state, !isLocal { return "no longer matches" }
    return "deleted"
  }

  private func summaryRow(of kind: FeedRow.Kind) -> FeedRow? {
    let count = snapshot.changes.count { self.kind(of: $0) == kind }
    guard count > 0 else { return nil }
    return base(kind, "\(documents(count)) " + (snapshot.isFromCache ? "from cache" : "from server"))
  }

  private func syncRow(_ summary: String) -> FeedRow { base(.synced, summary) }

  /// With nothing to show, the reason is the news.
  private func emptyRow(isFirst: Bool) -> FeedRow {
    base(.synced, isFirst ? "no documents" : reasons ?? documents(snapshot.count))
  }

  private var reasons: String? { SnapshotReasons.text(of: snapshot.causes, separator: " \(glyphs.bullet) ") }

  private func documents(_ count: Int) -> String { "\(grouped(count)) doc\(count == 1 ? "" : "s")" }
}

/// Why a snapshot fired, as far as its rows do not show it: a local write has its number in a column, an
/// acknowledgement and a rejection are the summary, and changes from the server are marked so.
enum SnapshotReasons {
  /// How many looked-up documents are named.
  private static let limit = 2

  static func text(of causes: [SnapshotCause], separator: String) -> String? {
    var texts: [String] = []
    var lookups = 0
    for cause in causes {
      if case .limboResolved = cause {
        lookups += 1
        if lookups > limit { continue }
      }
      if let news = cause.words.news { texts.append(news) }
    }
    if lookups > limit { texts.append("\(lookups - limit) more looked up") }
    return texts.isEmpty ? nil : texts.joined(separator: separator)
  }
}
