// SPDX-License-Identifier: Apache-2.0
package import ClientPort
import FirestoreClientState
import FirestoreJSON
package import FirestoreModel
package import FirestoreQuery
package import TerminalCanvas

/// One row of the live feed.
package struct FeedRow: Sendable {
  package enum Kind: Hashable, Sendable {
    case added, modified, removed
    /// A snapshot without changed documents. If it ends the `fromCache` state, the row says "in sync".
    case synced
    /// A separator line across the feed, for example at the start of an outage.
    case divider
    case failed
    /// A connection or call of a proxy's client.
    case call
    /// A write that replaced values which its author had not seen.
    case conflict
  }

  /// The row number. Numbers are consecutive. Rows are found by this number, never by their position on the screen.
  package var id = 0
  package var time: Timestamp
  package var kind: Kind
  package var listener: ListenerTag?
  package var listenerName = ""
  package var key: DocumentKey?
  package var isLocal = false
  package var isFromCache = false
  package var hasPendingWrites = false
  package var summary: String
  /// The reason for the snapshot, unless another part of the row shows it.
  package var why: String?
  package var batch: BatchID?
  /// The batch whose acknowledgement the row reports.
  package var acknowledges: BatchID?
  /// The batch whose failure or cancellation the row reports.
  package var ends: BatchID?
  /// The version of the document in the session's history.
  package var version: Int?
  /// The line number of the scenario's step that was running when the row was added; `nil` without a scenario.
  package var step: Int?
  /// The count of events in the row. Many changes at the same time share one row.
  package var count = 1
  /// The document after the change; `nil` if unknown.
  package var document: Document?
  package var previous: Document?

  package init(
    id: Int = 0, time: Timestamp, kind: Kind, listener: ListenerTag? = nil, listenerName: String = "",
    key: DocumentKey? = nil, isLocal: Bool = false, isFromCache: Bool = false, hasPendingWrites: Bool = false,
    summary: String, why: String? = nil, batch: BatchID? = nil, acknowledges: BatchID? = nil, ends: BatchID? = nil,
    version: Int? = nil, count: Int = 1, document: Document? = nil, previous: Document? = nil
  ) {
    self.id = id
    self.time = time
    self.kind = kind
    self.listener = listener
    self.listenerName = listenerName
    self.key = key
    self.isLocal = isLocal
    self.isFromCache = isFromCache
    self.hasPendingWrites = hasPendingWrites
    self.summary = summary
    self.why = why
    self.batch = batch
    self.acknowledges = acknowledges
    self.ends = ends
    self.version = version
    self.count = count
    self.document = document
    self.previous = previous
  }

  /// The write that caused the row.
  package var thread: BatchID? { batch ?? acknowledges ?? ends }

  /// The text of the document column.
  package var subject: String { key?.path.text ?? (kind != .synced ? "" : isFromCache ? "cached" : "in sync") }

  /// The source of the row's content: `LOCAL`, `SERVER`, or `CACHE` if the server has not responded.
  package var source: Source {
    if isLocal { return .local }
    return isFromCache && key == nil && kind != .failed && kind != .divider ? .cache : .server
  }

  package enum Source: String, Sendable {
    case local = "LOCAL"
    case server = "SERVER"
    case cache = "CACHE"
  }

  /// The text that a filter searches.
  package var searchText: String {
    [listenerName, subject, source.rawValue, summary, why ?? "", batch?.description ?? ""].joined(
      separator: " ")
  }

  /// The documents on which a filter's field conditions are evaluated: the document after the change, or before its
  /// removal.
  var filteredDocuments: [Document] { [document?.exists == true ? document : previous].compactMap(\.self) }

  /// The row as plain text for copying.
  package func text(offset: Int) -> String {
    let flags = (isFromCache ? "c" : "") + (hasPendingWrites ? "p" : "")
    let parts = [
      TimeText.milliseconds(time, offset: offset, from: .hours), listenerName, kind.letter, subject,
      source.rawValue, flags, summary, why.map { "(\($0))" } ?? "", batch?.description ?? "",
    ]
    return parts.filter { !$0.isEmpty }.joined(separator: " ")
  }
}

extension FeedRow.Kind {
  package init(_ kind: DocumentChange.Kind) {
    switch kind {
    case .added: self = .added
    case .removed: self = .removed
    case .modified, .metadata: self = .modified
    }
  }

  /// The letter that represents the kind on terminals without color.
  package var letter: String {
    switch self {
    case .added: "+"
    case .modified: "~"
    case .removed: "-"
    case .synced: "="
    case .failed, .conflict: "!"
    case .divider: " "
    case .call: ">"
    }
  }
}

/// Converts a snapshot to feed rows: one row per changed document, and one row when the listener is in sync. If a first
/// snapshot has many documents, it becomes a summary.
package struct SnapshotRows {
  package var snapshot: ListenerSnapshot
  package var listener: ListenerRecord
  package var time: Timestamp
  package var glyphs: Glyphs
  package var writes: WriteQueue
  /// Returns the display order of the fields of a collection's documents.
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

  /// A first snapshot with more documents than this becomes one row per kind.
  private static let floodLimit = 6
  /// The maximum count of documents for which later snapshots have separate rows.
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
      var row = base(.modified, "\(grouped(omitted)) more change\(omitted == 1 ? "" : "s"), left out")
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
    let account = ChangeSummary(
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
    var row = base(kind, "\(documents(count)) " + (snapshot.isFromCache ? "cached" : "from server"))
    row.count = count
    return row
  }

  private func syncRow(_ summary: String) -> FeedRow { base(.synced, summary) }

  /// A row for a snapshot without changed documents. It shows the reason.
  private func emptyRow(isFirst: Bool) -> FeedRow {
    guard isFirst else { return base(.synced, reasons ?? documents(snapshot.count)) }
    guard snapshot.isFromCache else { return base(.synced, "no documents") }
    return base(.synced, snapshot.wasAsked == false ? "cache has none (never asked)" : "cache has none")
  }

  private var reasons: String? { SnapshotReasons.text(of: snapshot.causes, separator: " \(glyphs.bullet) ") }

  private func documents(_ count: Int) -> String { "\(grouped(count)) doc\(count == 1 ? "" : "s")" }
}

/// The reasons for a snapshot, except those that its rows already show. A local write is shown by its number in a
/// column, and an acknowledgement or rejection by the row's summary. Changes from the server have a mark.
enum SnapshotReasons {
  /// The maximum count of looked-up documents that are named.
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

/// The whole content of a feed row on several lines, if needed.
package struct OpenedRow {
  package let row: FeedRow
  package let interest: FieldInterest?
  package let glyphs: Glyphs

  package init(row: FeedRow, interest: FieldInterest?, glyphs: Glyphs) {
    (self.row, self.interest, self.glyphs) = (row, interest, glyphs)
  }

  /// The parts of the text that do not fit in the row.
  package var text: String {
    let separator = " \(glyphs.bullet) "
    var parts = [row.summary]
    if let document = row.document, let interest {
      switch row.kind {
      case .modified:
        let changes = FieldChange.between(row.previous?.data?.fields ?? Fields(), document.data?.fields ?? Fields())
        let all = interest.sorted(changes, of: document).map(text).joined(separator: separator)
        let short = interest.text(of: changes, in: document, glyphs, limit: 4)
        if !changes.isEmpty { parts = [row.summary.hasSuffix(short) ? all : row.summary + separator + all] }
      case .added:
        let fields = document.data?.fields ?? Fields()
        let all = interest.sorted(fields).map { "\($0.name) \(text(of: $0.value))" }
        parts = (row.isLocal ? ["new"] : []) + all
      case .removed, .synced, .divider, .failed, .call, .conflict: break
      }
    }
    parts += [row.why, row.batch?.description].compactMap(\.self)
    return parts.joined(separator: separator)
  }

  /// A change of a field as text, with the old and the new value in full.
  private func text(of change: FieldChange) -> String {
    let name = change.path.segments.joined(separator: ".")
    switch (change.old, change.new) {
    case (nil, let new?): return "+\(name) \(text(of: new))"
    case (let old?, let new?): return "\(name) \(text(of: old))\(glyphs.arrow)\(text(of: new))"
    case (_, nil): return "-\(name)"
    }
  }

  /// A value as text, with the contents of arrays and maps.
  private func text(of value: Value) -> String {
    switch value {
    case .map, .array, .vector: String(DocumentJSON.line(of: value).prefix(Self.longestValue))
    default: ValueText.short(value)
    }
  }

  /// The maximum length of a shown value in characters. Longer values do not fit below the feed.
  private static let longestValue = 4000

  package func lines(width: Int, limit: Int) -> [String] {
    let all = WrappedText.lines(text, width: width, glyphs.ellipsis)
    guard all.count > limit, limit > 0 else { return all }
    return all.prefix(limit - 1) + [
      SafeText.truncated(all[(limit - 1)...].joined(separator: " "), to: width, ellipsis: glyphs.ellipsis)
    ]
  }
}
