// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSQLite

/// The changes of a target's documents while its client was disconnected, read from the log in slices. Each document
/// appears at its last change, and only if it matched the target before or matches it now. The history shows which
/// documents matched before.
///
/// ```
/// the log:    token │ change  change  change │ not read      later commits are added here and read last
///                since                    reached
/// ```
struct MissedChanges {
  /// A document that matched the target before or matches it now.
  struct Change {
    var document: Document
    var wasMember: Bool
    var isMember: Bool
  }

  /// The position of a change in the log.
  private struct Position {
    var version: Int64
    var collection: Int64
    var name: [UInt8]
  }

  /// The number of changes read in one step.
  private static let rows = 1_000

  let since: Int64
  private var reached: Position
  /// The paths of collections by their numbers; `nil` for collections without documents of the target.
  private var paths: [Int64: ResourcePath?] = [:]
  /// The deletions sent so far. They are remembered because a document may have been deleted more than once.
  private var deleted: Set<DocumentKey> = []
  /// Whether all changes have been read.
  private(set) var isDone = false
  /// Whether documents may have left the target without a record in the history.
  private(set) var isVague = false
  /// The number of documents that the changes sent so far add to the client's result; can be negative.
  private(set) var growth = 0

  init(since: Int64) {
    self.since = since
    reached = Position(version: since, collection: .max, name: [])
  }

  /// Whether the next changes are no longer in the log.
  func isCut(_ state: DatabaseState) -> Bool {
    reached.version < state.pruned || (reached.version == state.pruned && reached.collection != .max)
  }

  /// Reads the next slice of changes.
  /// - Parameters:
  ///   - limit: the size in bytes after which no more documents are added.
  ///   - historyStart: the version before which the history is unknown.
  mutating func next(
    of target: Target, upTo limit: Int, historyStart: Int64, _ reader: DocumentReader
  ) throws(StoreError) -> [Change] {
    let positions = try Self.positions(after: reached, reader)
    var (changes, bytes) = ([Change](), 0)
    for position in positions {
      reached = position
      guard let path = try path(of: position.collection, target, reader),
        let change = try change(at: position, below: path, target, historyStart, reader)
      else { continue }
      growth += (change.isMember ? 1 : 0) - (change.wasMember ? 1 : 0)
      bytes += change.document.storedSize
      changes.append(change)
      if bytes >= limit { return changes }
    }
    isDone = positions.count < Self.rows
    return changes
  }

  private static func positions(after last: Position, _ reader: DocumentReader) throws(StoreError) -> [Position] {
    var positions: [Position] = []
    try reader.connection.forEachRow(
      """
      SELECT version, collection, name FROM changes
        WHERE database = ?1 AND version >= ?2 AND (version, collection, name) > (?2, ?3, ?4)
        ORDER BY version, collection, name LIMIT ?5
      """, reader.state.id, last.version, last.collection, last.name, rows
    ) { row in
      positions.append(Position(version: row.integer(0), collection: row.integer(1), name: row.blob(2)))
    }
    return positions
  }

  private mutating func path(
    of collection: Int64, _ target: Target, _ reader: DocumentReader
  ) throws(StoreError) -> ResourcePath? {
    if let known = paths[collection] { return known }
    let path = try reader.connection.first("SELECT path FROM collections WHERE id = ?", collection) {
      ResourcePath($0.text(0))
    }
    let watched = path.flatMap { target.couldMatch(documentsIn: $0) ? $0 : nil }
    paths[collection] = .some(watched)
    return watched
  }

  /// - Returns: `nil` if the change does not affect the target, or if a later change of the same document follows.
  private mutating func change(
    at position: Position, below path: ResourcePath, _ target: Target, _ historyStart: Int64, _ reader: DocumentReader
  ) throws(StoreError) -> Change? {
    let key = DocumentKey(unchecked: path.appending(DocumentName(stored: position.name).id))
    let stored = try DocumentReader.read(key, in: position.collection, reader.connection)
    if let stored, stored.version != position.version { return nil }
    let document = stored?.document ?? Document(key: key, version: reader.readTime, state: .missing)
    let isMember = document.exists && target.holds(document)
    if since < historyStart {
      if !isMember { isVague = true }
      return isMember ? Change(document: document, wasMember: false, isMember: true) : nil
    }
    let before = try DocumentHistory(reader.connection).read(key, in: position.collection, at: since)
    let wasMember = before.map { target.holds($0.document) } ?? false
    guard isMember || wasMember, document.exists || deleted.insert(key).inserted else { return nil }
    return Change(document: document, wasMember: wasMember, isMember: isMember)
  }
}

extension DocumentReader {
  /// Whether anything has changed in a target's collections since a version.
  func hasChanged(_ target: Target, since version: Int64) throws(StoreError) -> Bool {
    var collections: Set<Int64> = []
    try connection.forEachRow(
      "SELECT DISTINCT collection FROM changes WHERE database = ? AND version > ?", state.id, version
    ) { collections.insert($0.integer(0)) }
    for collection in collections {
      let path = try connection.first("SELECT path FROM collections WHERE id = ?", collection) {
        ResourcePath($0.text(0))
      }
      if let path, target.couldMatch(documentsIn: path) { return true }
    }
    return false
  }
}

/// The content of a resume token. The client has seen all changes up to a commit of this data set.
///
/// ```
/// 01  instance of the data set (8 bytes)  opening (8 bytes)  version in microseconds (8 bytes)      big-endian
/// ```
struct ResumePosition {
  /// The opening that committed the version (see `Openings`).
  let opening: Int64
  let version: Int64

  /// The position of a client that has seen all commits so far.
  init(_ state: DatabaseState) {
    opening = state.openings.last
    version = state.committed
  }

  /// - Returns: `nil` for a token of another data set.
  init?(_ token: ResumeToken, instance: [UInt8]) {
    let bytes = token.bytes
    guard bytes.count == 25, bytes[0] == 1, bytes[1..<9].elementsEqual(instance) else { return nil }
    opening = bytes[9..<17].reduce(0) { $0 << 8 | Int64($1) }
    version = bytes[17...].reduce(0) { $0 << 8 | Int64($1) }
  }

  func token(instance: [UInt8]) -> ResumeToken? {
    var bytes: [UInt8] = [1]
    bytes.append(contentsOf: instance)
    for number in [opening, version] { withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) } }
    return ResumeToken(bytes)
  }
}

extension DocumentReader {
  /// The version from which a resumed target continues. `nil` if the version is not in the file's history, or if the
  /// changes after it are no longer recorded; the target must then start over.
  func version(of resume: WatchTarget.Resume, instance: [UInt8]) -> Int64? {
    switch resume {
    case .token(let token):
      guard let position = ResumePosition(token, instance: instance),
        let end = state.openings.end(of: position.opening, committed: state.committed),
        position.version >= state.pruned, position.version <= end
      else { return nil }
      return position.version
    case .readTime(let time):
      let version = time.microseconds
      let isOfThisProcess = version >= state.opened && version <= state.version
      guard version >= state.pruned,
        isOfThisProcess || state.openings.contains(version, committed: state.committed)
      else { return nil }
      return version
    }
  }
}

extension Target {
  /// Whether the target can match any document of this collection.
  func couldMatch(documentsIn collection: ResourcePath) -> Bool {
    if let collectionGroup { return collection.last.equalsUTF8(collectionGroup) && path.isPrefix(of: collection) }
    return collection == path
  }
}
