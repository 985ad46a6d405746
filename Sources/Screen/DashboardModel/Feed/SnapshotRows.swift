// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
package import FirestoreModel
import FirestoreQuery
package import TerminalCanvas

/// Turns a snapshot into feed rows: one per changed document, one for the moment of synchronisation, and one summary
/// where a first snapshot would flood the feed.
package struct SnapshotRows {
  package var snapshot: ListenerSnapshot
  package var listener: ListenerRecord
  package var time: Timestamp
  package var glyphs: Glyphs
  package var writes: WriteQueue
  /// The order in which fields of a collection's documents are worth telling.
  package var interest: (ResourcePath) -> FieldInterest

  package init(
    snapshot: ListenerSnapshot, listener: ListenerRecord, time: Timestamp, glyphs: Glyphs, writes: WriteQueue,
    interest: @escaping (ResourcePath) -> FieldInterest
  ) {
    self.snapshot = snapshot
    self.listener = listener
    self.time = time
    self.glyphs = glyphs
    self.writes = writes
    self.interest = interest
  }

  /// The number of documents in a first snapshot beyond which it becomes one row per kind.
  private static let floodLimit = 6
  /// The number of documents that later snapshots may report one by one.
  private static let burstLimit = 200

  package func rows() -> [FeedRow] {
    let isFirst = listener.count == nil
    let limit = isFirst ? Self.floodLimit : Self.burstLimit
    var rows: [FeedRow] = []
    if snapshot.changes.count > limit {
      rows = [.added, .modified, .removed].compactMap { summaryRow(of: $0) }
    } else {
      let causes = CausesOfChanges(snapshot.causes, writes)
      rows = snapshot.changes.map { row($0, causes) }
    }
    if let omitted = snapshot.omitted {
      var row = base(.modified, "\(grouped(omitted)) more change\(omitted == 1 ? "" : "s"), not told")
      row.count = omitted
      rows.append(row)
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

  private func base(_ kind: FeedRow.Kind, _ summary: String) -> FeedRow {
    FeedRow(
      time: time, kind: kind, listener: listener.tag, listenerName: listener.name,
      isLocal: snapshot.causes.contains(where: \.isLocal), isFromCache: snapshot.isFromCache, hasPendingWrites: false,
      summary: summary)
  }

  private func row(_ change: ListenerSnapshot.Change, _ causes: CausesOfChanges) -> FeedRow {
    let account = ChangeAccount(
      change: change, causes: causes, query: listener.query, isFromCache: snapshot.isFromCache, writes: writes,
      interest: interest(change.document.key.collection), glyphs: glyphs)
    var row = base(account.kind, account.summary)
    row.key = change.document.key
    // A document that only left the results has no new content.
    row.document = change.kind == .removed && change.now == nil ? nil : change.after
    row.previous = change.kind == .removed ? change.previous ?? change.document : change.previous
    row.isLocal = account.isLocal
    row.hasPendingWrites = account.hasPendingWrites
    row.batch = account.batch
    row.acknowledges = account.acknowledged
    return row
  }

  private func summaryRow(of kind: FeedRow.Kind) -> FeedRow? {
    let count = snapshot.changes.count { FeedRow.Kind($0.kind) == kind }
    guard count > 0 else { return nil }
    var row = base(kind, "\(documents(count)) " + (snapshot.isFromCache ? "from cache" : "from server"))
    row.count = count
    return row
  }

  private func syncRow(_ summary: String) -> FeedRow { base(.synced, summary) }

  /// A row for a snapshot without changed documents: its reason is the news.
  private func emptyRow(isFirst: Bool) -> FeedRow {
    guard isFirst else { return base(.synced, reasons ?? documents(snapshot.count)) }
    guard snapshot.isFromCache else { return base(.synced, "no documents") }
    return base(.synced, snapshot.wasAsked == false ? "cache has none (never asked)" : "cache has none")
  }

  private var reasons: String? { SnapshotReasons.text(of: snapshot.causes, separator: " \(glyphs.bullet) ") }

  private func documents(_ count: Int) -> String { "\(grouped(count)) doc\(count == 1 ? "" : "s")" }
}

/// The reasons why a snapshot fired, as far as its rows do not show them: a local write has its number in a column, an
/// acknowledgement and a rejection are the summary, and changes from the server are marked so.
enum SnapshotReasons {
  /// The number of looked-up documents that are named.
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
