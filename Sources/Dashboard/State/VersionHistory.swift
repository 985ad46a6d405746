// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// The versions of documents that were seen in this session, whoever brought them: a listener, the browser or the open
/// document. Bounded in number and bytes; the oldest go first.
package struct VersionHistory: Sendable {
  /// One version, and how it came about.
  struct Version: Sendable {
    /// Consecutive over all documents.
    fileprivate(set) var id = 0
    /// When it was seen.
    let time: Timestamp
    let document: Document
    var kind: FeedRow.Kind
    var isLocal: Bool
    /// The unacknowledged batch that it shows.
    var batch: BatchID?
    /// The batch whose acknowledgement brought it.
    var acknowledges: BatchID?
    var summary: String
    /// Why it was seen, where the rest does not say it.
    var why: String?
    fileprivate(set) var byteCount = 0

    var key: DocumentKey { document.key }

    /// Whether the document came into being with it.
    var isCreation: Bool {
      guard document.exists else { return false }
      return document.hasPendingWrites
        ? document.createTime == nil : document.version != nil && document.createTime == document.version
    }
  }

  static let capacity = 4096
  static let byteLimit = 8 << 20
  /// Versions are dropped in blocks, so that one more costs no shift of all.
  private static let slack = 256

  private var versions = BlockList<Version>()
  private var ids: [DocumentKey: [Int]] = [:]
  private var nextID = 1
  package private(set) var byteCount = 0
  /// How many versions were given up for want of room.
  package private(set) var forgotten = 0

  package var count: Int { versions.count }

  func contains(_ key: DocumentKey) -> Bool { ids[key] != nil }

  /// The versions of a document that are kept, oldest first.
  func versions(of key: DocumentKey) -> [Version] { (ids[key] ?? []).compactMap { self[$0] } }

  func newest(of key: DocumentKey) -> Version? { ids[key]?.last.flatMap { self[$0] } }

  subscript(id: Int) -> Version? {
    guard let first = versions.first?.id, id >= first, id - first < versions.count else { return nil }
    return versions[id - first]
  }

  /// Keeps a version, unless it is the newest one of its document again, or older than what the server has said since.
  /// - Returns: the number under which it is kept; `nil` if it was out of date.
  @discardableResult
  mutating func note(_ version: Version) -> Int? {
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

  /// A listener knows more of a version than a window that brought it first.
  private mutating func tell(_ id: Int, as version: Version) {
    guard let first = versions.first?.id else { return }
    let index = id - first
    versions[index].batch = versions[index].batch ?? version.batch
    versions[index].acknowledges = versions[index].acknowledges ?? version.acknowledges
    versions[index].why = versions[index].why ?? version.why
  }

  /// Adds how long an acknowledgement took to the versions that came before that was known.
  mutating func note(_ batch: BatchID, after time: Duration) {
    for index in versions.indices.suffix(Self.slack) where versions[index].acknowledges == batch {
      versions[index].summary = ChangeAccount.timed(versions[index].summary, of: batch, after: time)
    }
  }

  private mutating func forgetOldest() {
    guard versions.count > Self.capacity + Self.slack || byteCount > Self.byteLimit else { return }
    var surplus = max(0, versions.count - Self.capacity)
    var bytes = versions.prefix(surplus).reduce(byteCount) { $0 - $1.byteCount }
    // The newest stays, however large it is. A tenth is made free, so that this is not to be done with each.
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
