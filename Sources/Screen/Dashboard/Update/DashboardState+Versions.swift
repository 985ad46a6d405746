// SPDX-License-Identifier: Apache-2.0
import ClientPort
import DashboardModel
import FirestoreModel
import FirestoreQuery

/// The stored versions of observed documents.
extension DashboardState {
  /// Stores the documents of listeners' rows as versions, and sets the version number of each row.
  mutating func note(_ rows: inout [FeedRow]) {
    for index in rows.indices {
      let row = rows[index]
      guard let document = row.document else { continue }
      if let previous = row.previous, previous.exists, !versions.contains(document.key) {
        versions.note(firstSight(of: previous, "as it was before"))
      }
      rows[index].version = versions.note(
        VersionHistory.Version(
          time: row.time, document: document, kind: row.kind, isLocal: row.isLocal, batch: row.batch,
          acknowledges: row.acknowledges, summary: row.summary, why: row.why))
    }
  }

  /// Stores the versions of changes that are too numerous for separate rows, but only for documents with a stored
  /// version.
  mutating func noteKnown(_ changes: [ListenerSnapshot.Change], of query: Query) {
    for change in changes where versions.contains(change.document.key) {
      note(change.after, in: query, readBy: "a listener")
    }
  }

  /// Stores the version of a document in the browser or the open document.
  /// - Parameter reader: the part of the screen that read the document, in words.
  mutating func note(_ document: Document, in query: Query, readBy reader: String) {
    // The server's result of an acknowledged write follows.
    guard !document.hasCommittedMutations, document.state != .unknown else { return }
    guard let newest = versions.newest(of: document.key) else {
      if document.exists { versions.note(firstSight(of: document, "first seen by \(reader)")) }
      return
    }
    guard newest.document != document else { return }
    let change = ListenerSnapshot.Change(from: newest.document, to: document)
    let account = ChangeSummary(
      change: change, causes: CausesOfChanges([], writes), query: query, writes: writes,
      interest: interest(in: document.key.collection), glyphs: configuration.glyphs)
    versions.note(
      VersionHistory.Version(
        time: now, document: document, kind: account.kind, isLocal: account.isLocal, batch: account.batch,
        acknowledges: account.acknowledged, summary: account.summary))
  }

  private func firstSight(of document: Document, _ summary: String) -> VersionHistory.Version {
    VersionHistory.Version(
      time: now, document: document, kind: .synced, isLocal: document.hasLocalMutations,
      batch: document.hasLocalMutations ? writes.batch(touching: document.key) : nil, summary: summary)
  }

  /// Opens a document at one of its versions, next to the previous one.
  mutating func openDifference(_ version: Int?, of key: DocumentKey) -> [Effect] {
    let effects = openDetail(key)
    guard let version else { return effects }
    detail?.tab = .diff
    let newest = versions.newest(of: key)?.id
    detail?.version = version == newest ? nil : version
    detail?.cursor = Cursor()
    return effects
  }

  /// The shown version of the open document. In the history, this is the version of the selected line, otherwise the
  /// version in the Diff tab.
  private var shownVersion: VersionHistory.Version? {
    guard let detail else { return nil }
    if detail.tab == .history, case .version(let version)? = selectedLine?.content { return version }
    return detail.version.flatMap { versions[$0] } ?? versions.newest(of: detail.key)
  }

  var reasonAgainstMarkingVersion: String? {
    shownVersion == nil ? "no version of the document was seen in this session" : nil
  }

  /// Toggles the shown version as the base of Diff.
  mutating func toggleBaseVersion() {
    guard let version = shownVersion else { return }
    let isMarked = detail?.base == version.id
    detail?.base = isMarked ? nil : version.id
    if detail?.tab == .diff { detail?.cursor = Cursor() }
    let clock = TimeText.clock(version.time, offset: configuration.utcOffset)
    toast(
      .info,
      isMarked
        ? "Diff compares with the version before again"
        : "Diff compares with the version of \(clock): , and . or enter in History choose the other version")
  }

  /// The history of the write that caused the shown version.
  private var versionJourney: WriteJourney? {
    guard let version = shownVersion, let batch = version.batch ?? version.acknowledges else { return nil }
    return writes.journey(of: batch)
  }

  var reasonAgainstVersionWay: String? {
    guard let version = shownVersion else { return reasonAgainstMarkingVersion }
    if version.batch == nil, version.acknowledges == nil {
      return "no write of this client caused it: \(version.why ?? version.summary)"
    }
    return versionJourney == nil ? "the history of that write is no longer kept" : nil
  }

  /// Shows the history of the write that caused the shown version.
  mutating func openVersionWrite() { versionJourney.map { openWrite($0.row) } }

  /// Compares with an older or newer version. At the newest version, Diff follows new versions.
  mutating func stepVersion(by step: Int) {
    guard let detail else { return }
    let ids = versions.versions(of: detail.key).map(\.id)
    guard let last = ids.indices.last else { return }
    let index = detail.version.flatMap { id in ids.firstIndex { $0 >= id } } ?? last
    let next = min(max(0, index + step), last)
    self.detail?.version = next == last ? nil : ids[next]
    self.detail?.cursor = Cursor()
  }
}

extension ListenerSnapshot.Change {
  /// The change between two states of a document.
  fileprivate init(from previous: Document, to document: Document) {
    if !document.exists {
      self.init(.removed, previous, previous: previous, now: document)
    } else if !previous.exists {
      self.init(.added, document, previous: previous)
    } else {
      self.init(previous.data == document.data ? .metadata : .modified, document, previous: previous)
    }
  }
}
