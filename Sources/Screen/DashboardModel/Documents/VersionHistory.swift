// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The versions of documents in this session, as reported by a listener, the tree in pane 1 or the open document. Count
/// and bytes are bounded. The oldest versions are dropped first.
package struct VersionHistory: Sendable {
  /// A version of a document, and what caused it.
  package struct Version: Sendable {
    /// The version number. Numbers are consecutive over all documents.
    package fileprivate(set) var id = 0
    /// The time when the dashboard received the version.
    package let time: Timestamp
    package let document: Document
    package var kind: FeedRow.Kind
    package var isLocal: Bool
    /// The unacknowledged batch whose write the version shows.
    package var batch: BatchID?
    /// The batch whose acknowledgement caused the version.
    package var acknowledges: BatchID?
    package var summary: String
    /// The reason for the version, unless other properties contain it.
    package var why: String?
    fileprivate(set) var byteCount = 0

    package init(
      time: Timestamp, document: Document, kind: FeedRow.Kind, isLocal: Bool, batch: BatchID? = nil,
      acknowledges: BatchID? = nil, summary: String, why: String? = nil
    ) {
      (self.time, self.document, self.kind, self.isLocal) = (time, document, kind, isLocal)
      (self.batch, self.acknowledges, self.summary, self.why) = (batch, acknowledges, summary, why)
    }

    package var key: DocumentKey { document.key }

    /// Whether the version created the document.
    package var isCreation: Bool {
      guard document.exists else { return false }
      return document.hasPendingWrites
        ? document.createTime == nil : document.version != nil && document.createTime == document.version
    }
  }

  static let capacity = 4096
  static let byteLimit = 8 << 20
  /// Versions are dropped in blocks of this size, so that a new version does not move the whole array.
  private static let slack = 256

  private var versions = BlockList<Version>()
  private var ids: [DocumentKey: [Int]] = [:]
  private var nextID = 1
  package private(set) var byteCount = 0
  /// The count of dropped versions.
  package private(set) var forgotten = 0

  package init() {}

  package var count: Int { versions.count }

  package func contains(_ key: DocumentKey) -> Bool { ids[key] != nil }

  /// The stored versions of a document, oldest first.
  package func versions(of key: DocumentKey) -> [Version] { (ids[key] ?? []).compactMap { self[$0] } }

  package func newest(of key: DocumentKey) -> Version? { ids[key]?.last.flatMap { self[$0] } }

  package subscript(id: Int) -> Version? {
    guard let first = versions.first?.id, id >= first, id - first < versions.count else { return nil }
    return versions[id - first]
  }

  /// Stores a version. Ignored if it equals the document's newest version or is older than the server's last version.
  /// - Returns: the number of the stored version; `nil` if the given version was out of date.
  @discardableResult
  package mutating func note(_ version: Version) -> Int? {
    if let newest = newest(of: version.key) {
      if newest.document == version.document {
        tell(newest.id, as: version)
        return newest.id
      }
      if let known = newest.document.version, let new = version.document.version, new < known,
        !newest.document.hasPendingWrites, !version.document.hasPendingWrites
      {
        return nil
      }
    }
    var version = version
    version.id = nextID
    version.byteCount = version.key.path.text.utf8.count + (version.document.data?.encoded.bytes.count ?? 0)
    nextID += 1
    byteCount += version.byteCount
    ids[version.key, default: []].append(version.id)
    versions.append(version)
    forgetOldest()
    return version.id
  }

  /// Adds what a listener reports to a version that a collection window has already reported.
  private mutating func tell(_ id: Int, as version: Version) {
    guard let first = versions.first?.id else { return }
    let index = id - first
    versions[index].batch = versions[index].batch ?? version.batch
    versions[index].acknowledges = versions[index].acknowledges ?? version.acknowledges
    // A listener that was added later is no reason for the first sight of a document.
    if versions[index].kind != .synced { versions[index].why = versions[index].why ?? version.why }
  }

  /// Adds the latency of an acknowledgement to the versions that were stored before the latency was known.
  package mutating func note(_ answer: WriteAnswer) {
    for index in versions.indices.suffix(Self.slack) where versions[index].acknowledges == answer.batch {
      versions[index].summary = answer.completing(versions[index].summary)
    }
  }

  private mutating func forgetOldest() {
    guard versions.count > Self.capacity + Self.slack || byteCount > Self.byteLimit else { return }
    var surplus = max(0, versions.count - Self.capacity)
    var bytes = versions.prefix(surplus).reduce(byteCount) { $0 - $1.byteCount }
    // The newest version stays, however large it is. Freeing a tenth avoids repeating this for each version.
    while bytes > Self.byteLimit / 10 * 9, surplus < versions.count - 1 {
      bytes -= versions[surplus].byteCount
      surplus += 1
    }
    for version in versions.prefix(surplus) {
      ids[version.key]?.removeFirst()
      if ids[version.key]?.isEmpty == true { ids[version.key] = nil }
    }
    versions.removeFirst(surplus)
    byteCount = bytes
    forgotten += surplus
  }
}
