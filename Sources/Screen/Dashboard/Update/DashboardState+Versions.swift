// SPDX-License-Identifier: Apache-2.0
import ClientPort
import DashboardModel
import FirestoreModel
import FirestoreQuery

/// The versions of documents that the dashboard has observed and stored.
extension DashboardState {
  /// Stores the documents of listeners' feed rows as versions. Sets the version number of each row.
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

  /// Stores the new versions if a snapshot has too many changes for separate feed rows. Only documents that already
  /// have a stored version get a new one.
  mutating func noteKnown(_ changes: [ListenerSnapshot.Change], of query: Query) {
    for change in changes where versions.contains(change.document.key) {
      note(change.after, in: query, readBy: "a listener")
    }
  }

  /// Stores the current version of a document that the tree in pane 1 or the detail pane shows.
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

  /// Opens a document and compares one of its versions with the previous version.
  mutating func openDifference(_ version: Int?, of key: DocumentKey) -> [Effect] {
    let effects = openDetail(key)
    guard let version else { return effects }
    detail?.tab = .diff
    let newest = versions.newest(of: key)?.id
    detail?.version = version == newest ? nil : version
    detail?.cursor = Cursor()
    return effects
  }

  /// The version of the open document that is shown. In the history, this is the version of the selected line.
  /// Otherwise this is the version in the Diff tab.
  private var shownVersion: VersionHistory.Version? {
    guard let detail else { return nil }
    if detail.tab == .history, case .version(let version)? = selectedLine?.content { return version }
    return detail.version.flatMap { versions[$0] } ?? versions.newest(of: detail.key)
  }

  var reasonAgainstMarkingVersion: String? {
    shownVersion == nil ? "no version of the document was seen in this session" : nil
  }

  /// Makes the shown version the base of comparisons in the Diff tab. If it already is the base, removes this setting.
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

  /// Selects an older or newer version for the comparison. At the newest version, the Diff tab shows each newer version
  /// when it arrives.
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
  /// The change from one state of a document to another.
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
