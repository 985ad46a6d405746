// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery

/// One row of the live feed.
package struct FeedRow: Sendable {
  package enum Kind: Hashable, Sendable {
    case added, modified, removed
    /// A snapshot without changed documents; the one that turns `fromCache` off is "in sync".
    case synced
    /// A line across the feed, such as the beginning of an outage.
    case divider
    case failed
    /// A write that replaced values its author had not seen.
    case conflict
  }

  /// The number of the row; numbers are consecutive, and rows are found by them, never by their place on the screen.
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
  /// The reason why the snapshot fired, if the row does not show it otherwise.
  package var why: String?
  package var batch: BatchID?
  /// The batch whose acknowledgement the row reports.
  package var acknowledges: BatchID?
  /// The batch whose end, other than by an acknowledgement, the row reports.
  package var ends: BatchID?
  /// The version of the document that the row brought, in the history of the session.
  package var version: Int?
  /// The number of events in the row: the changes of a flood are one row.
  package var count = 1
  /// The document as the change left it; `nil` where it is not known.
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

  /// The write behind the row.
  package var thread: BatchID? { batch ?? acknowledges ?? ends }

  /// The text of the document column.
  package var subject: String { key?.path.text ?? (kind != .synced ? "" : isFromCache ? "from cache" : "in sync") }

  /// The side that the row's content comes from: `LOCAL`, `SERVER`, or `CACHE` where the server has not answered.
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

  /// The documents for a filter's conditions on fields: the document after the change, or before its removal.
  var filteredDocuments: [Document] { [document?.exists == true ? document : previous].compactMap(\.self) }

  /// The row as plain text, for the clipboard.
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

  /// The letter of the kind, for reading without colour.
  package var letter: String {
    switch self {
    case .added: "+"
    case .modified: "~"
    case .removed: "-"
    case .synced: "="
    case .failed, .conflict: "!"
    case .divider: " "
    }
  }
}
