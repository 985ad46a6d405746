// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
package import FirestoreLocal
package import FirestoreModel
package import FirestoreProtocol

/// Collects the messages of one watch stream into one `RemoteEvent` per consistent snapshot (PROTOCOL §2.3).
///
/// The aggregator stores the stream's messages since the last snapshot. Callers pass the function `targets`, which
/// returns a target with the keys of the last raised snapshot (S2). It returns `nil` if the client does not need the
/// target, or if a request for it has not been sent yet.
///
/// The cost of a snapshot is proportional to its changes. If no message names a target, the target follows the stream.
/// An event contains one position for all such targets (`RemoteEvent.Position`).
package struct WatchChangeAggregator: Sendable {
  package typealias Targets = (TargetID) -> WatchedTarget?

  private let database: DatabaseID
  private var states: [TargetID: WatchTargetState] = [:]
  /// The targets that messages have named since the last event. The next event includes them.
  private var news: Set<TargetID> = []
  /// The targets that are included in every event with a position: new targets without a position, and limbo
  /// resolutions.
  private var named: Set<TargetID> = []
  /// The targets for single documents for which the next snapshot may show that the document does not exist.
  private var undecided: Set<TargetID> = []
  private var position = RemoteEvent.Position(isFirst: true)
  /// The last resume token that applied to all targets, and the number of such tokens so far.
  private var shared: (token: ResumeToken?, count: Int) = (nil, 0)
  private var documents: [DocumentKey: Document] = [:]
  /// The targets that each document message names, in order, and the set of all these targets.
  private var mentions: [(key: DocumentKey, target: TargetID)] = []
  private var mentioned: Set<TargetID> = []
  private var mismatches: [TargetID: TargetPurpose] = [:]
  private var filtered: Set<TargetID> = []
  /// Whether the backend reset a target since the last event.
  private var hasReset = false

  package init(database: DatabaseID) { self.database = database }

  // MARK: Requests

  /// Records that a request for the target was passed to the stream. The backend must still confirm the request (S5).
  /// - Parameter isWhole: whether the request is for all documents of the target, regardless of the cache.
  package mutating func requestHandedOut(_ id: TargetID, isWhole: Bool = false) {
    states[id, default: WatchTargetState()].responsesOwed += 1
    states[id]?.isWhole = isWhole
    leave(id)
  }

  /// Excludes the target from events until the backend confirms it again. The target keeps its position.
  mutating func leave(_ id: TargetID) {
    news.remove(id)
    named.remove(id)
    undecided.remove(id)
    position.left.insert(id)
  }

  /// Adds a target to the next event that has a position, although the target follows the stream. The reason is that a
  /// new view waits for the position.
  mutating func name(_ id: TargetID) { if states[id] != nil { named.insert(id) } }

  /// Removes a target that the backend ended with an error. No more responses for the target are expected.
  package mutating func forget(_ id: TargetID) {
    states[id] = nil
    leave(id)
  }

  package func responsesOwed(_ id: TargetID) -> Int { states[id]?.responsesOwed ?? 0 }

  /// The state of a target according to the stream's messages.
  func progress(of id: TargetID) -> TargetState.Progress {
    guard let state = states[id] else { return .unasked }
    return state.isPending ? .asked : state.isCurrent ? .current : .receiving
  }

  // MARK: Messages

  /// - Throws: `internal` if a message violates the protocol. The stream must then be closed.
  package mutating func receive(_ change: WatchChange, targets: Targets) throws(RPCStatus) {
    switch change {
    case .added(let ids): for id in ids { confirmAddition(of: id, targets) }
    case .removed(let ids, cause: _): for id in ids { confirmRemoval(of: id) }
    case .current(let ids, let token):
      for id in concerned(ids, targets) {
        alter(id) { state in
          state.isCurrent = true
          state.update(token)
        }
      }
    case .reset(let ids, let token):
      hasReset = true
      for id in concerned(ids, targets) {
        reset(id, targets)
        alter(id) { $0.update(token) }
      }
    case .token(let ids, let token):
      if let token { for id in concerned(ids, targets) { alter(id) { $0.update(token) } } }
    case .snapshot(_, let token): if let token { advance(to: token, targets) }
    case .document(let document, let updated, let removed):
      for id in updated where document.exists { add(document, to: id, targets) }
      for id in updated where !document.exists { remove(document.key, from: id, targets, as: document) }
      for id in removed { remove(document.key, from: id, targets, as: document) }
    case .documentRemoved(let key, let removed): for id in removed { remove(key, from: id, targets, as: nil) }
    case .filter(let id, let filter): try apply(filter, to: id, targets)
    }
  }

  /// The active targets that a message concerns: the targets that it lists, or all targets if it lists none.
  private func concerned(_ ids: [TargetID], _ targets: Targets) -> [TargetID] {
    (ids.isEmpty ? Array(states.keys) : ids).filter { active($0, targets) != nil }
  }

  private func active(_ id: TargetID, _ targets: Targets) -> WatchedTarget? {
    guard let state = states[id], !state.isPending else { return nil }
    return targets(id)
  }

  /// Changes the state of a target and includes it in the next event.
  @inline(__always)
  private mutating func alter(_ id: TargetID, _ edit: (inout WatchTargetState) -> Void) {
    guard let index = states.index(forKey: id) else { return }
    if !states.values[index].isNamed {
      states.values[index].isNamed = true
      states.values[index].follow(shared.token, shared.count)
      news.insert(id)
    }
    edit(&states.values[index])
  }

  /// Applies a resume token that applies to all targets.
  private mutating func advance(to token: ResumeToken, _ targets: Targets) {
    let count = shared.count + 1
    (shared, position.token) = ((token, count), token)
    for id in named.union(news) where active(id, targets) != nil { alter(id) { $0.follow(token, count) } }
  }

  private mutating func confirmAddition(of id: TargetID, _ targets: Targets) {
    guard let state = states[id], state.isPending else { return }
    states[id]?.responsesOwed -= 1
    if states[id]?.isPending == true { return }
    // A newly added target has an empty state, because earlier messages belong to an earlier listen. There are no
    // changes to report yet, and its view keeps its documents.
    begin(id)
    // Removes all documents if the backend sends the whole result, so that documents that it does not send again are
    // removed. A document may have arrived after a mismatched count, and may have left the result before the new
    // listen.
    guard state.isWhole, let target = active(id, targets), target.document == nil else { return }
    for key in target.allKeys { remove(key, from: id, targets, as: nil) }
  }

  /// Creates a new state for a target that the backend has confirmed or reset.
  private mutating func begin(_ id: TargetID) {
    states[id] = WatchTargetState(after: shared.count)
    news.remove(id)
    named.insert(id)
  }

  /// Records that the backend has confirmed the removal of a target.
  mutating func confirmRemoval(of id: TargetID) {
    guard let state = states[id] else { return }
    leave(id)
    if state.responsesOwed > 1 {
      states[id]?.responsesOwed -= 1
    } else {
      states[id] = nil
    }
  }

  private mutating func add(_ document: Document, to id: TargetID, _ targets: Targets) {
    guard let target = active(id, targets) else { return }
    let isKnown = target.contains(document.key)
    alter(id) { $0.record(isKnown ? .modified : .added, of: document.key) }
    documents[document.key] = document
    mention(document.key, for: id)
  }

  private mutating func mention(_ key: DocumentKey, for id: TargetID) {
    if mentions.last?.target != id { mentioned.insert(id) }
    mentions.append((key, id))
  }

  private mutating func remove(
    _ key: DocumentKey, from id: TargetID, _ targets: Targets, as document: Document?
  ) {
    guard let target = active(id, targets) else { return }
    let isKnown = target.contains(key)
    alter(id) { state in
      if isKnown { state.record(.removed, of: key) } else { state.forget(key) }
    }
    mention(key, for: id)
    if let document { documents[key] = document }
  }

  /// Resets the target. Its documents count as removed, unless the backend sends them again before the next snapshot.
  private mutating func reset(_ id: TargetID, _ targets: Targets) {
    begin(id)
    guard let target = active(id, targets) else { return }
    alter(id) { _ in }
    for key in target.allKeys { remove(key, from: id, targets, as: nil) }
  }

  // MARK: Existence filters

  private mutating func apply(_ filter: ExistenceFilter, to id: TargetID, _ targets: Targets) throws(RPCStatus) {
    guard let target = active(id, targets) else { return }
    if let key = target.document {
      switch filter.count {
      case 0: remove(key, from: id, targets, as: Document(key: key, version: nil, state: .missing))
      case 1: break
      default:
        throw RPCStatus(.internal, "existence filter counts \(filter.count) for target \(id), which names one document")
      }
      return
    }
    let held = target.count + (states[id]?.netCount ?? 0)
    guard held != filter.count else { return }
    filtered.insert(id)
    let usable = filter.unchangedNames.flatMap { try? BloomFilter($0) }  // An invalid filter counts as absent.
    guard let bloom = usable, !bloom.isEmpty else {
      mismatch(id, .existenceFilterMismatch, targets)
      return
    }
    var removed = 0
    for key in target.allKeys where !bloom.mightContain(database.name(of: key)) {
      remove(key, from: id, targets, as: nil)
      removed += 1
    }
    if held - removed != filter.count { mismatch(id, .existenceFilterMismatchBloom, targets) }
  }

  private mutating func mismatch(_ id: TargetID, _ purpose: TargetPurpose, _ targets: Targets) {
    reset(id, targets)
    mismatches[id] = purpose
  }

  // MARK: Snapshots

  /// Whether the stream has reported, since the last snapshot, that the document is deleted or belongs to a target.
  private func isKnown(_ key: DocumentKey) -> Bool {
    guard let document = documents[key] else { return false }
    return !document.exists || news.contains { states[$0]?.shows(key) ?? false }
  }

  /// The documents that were reported, but not for any of these targets.
  private func documents(mentionedOutsideOf listening: Set<TargetID>) -> Set<DocumentKey> {
    // Returns early in the usual case, without limbo resolutions.
    if mentioned.isSubset(of: listening) { return [] }
    var keys: Set<DocumentKey> = []
    for mention in mentions where !listening.contains(mention.target) { keys.insert(mention.key) }
    for mention in mentions where listening.contains(mention.target) { keys.remove(mention.key) }
    return keys
  }

  /// Finds targets for single documents that are current although the backend has not sent their document. Such a
  /// document does not exist, unless another target has just received it.
  private mutating func decide(at version: SnapshotVersion, _ targets: Targets) {
    var open: Set<TargetID> = []
    for id in undecided.union(news).sorted() {
      guard let target = active(id, targets), let key = target.document, let state = states[id] else { continue }
      // Decides by the documents of the last snapshot, so a removal in this snapshot is only considered at the next
      // one.
      if state.isNamed { open.insert(id) }
      guard state.isCurrent, !target.contains(key) else { continue }
      if isKnown(key) {
        open.insert(id)
      } else {
        remove(key, from: id, targets, as: Document(key: key, version: version, state: .missing))
        // A lookup remains undecided until it ends, so that each snapshot reports its result. Another view may wait for
        // it.
        if target.purpose == .limboResolution { open.insert(id) } else { open.remove(id) }
      }
    }
    undecided = open
  }

  /// Returns all changes since the last event, combined into one consistent event.
  package mutating func takeEvent(at version: SnapshotVersion, targets: Targets) -> RemoteEvent {
    decide(at: version, targets)
    var changes: [TargetID: TargetChange] = [:]
    for id in news {
      guard let target = active(id, targets), let change = states[id]?.takeChange() else { continue }
      changes[id] = change
      if change.resumeToken != nil, target.purpose != .limboResolution { named.remove(id) }
    }
    let listening = mentioned.filter { active($0, targets).map { $0.purpose != .limboResolution } ?? false }
    var event = RemoteEvent(
      version: version, targetChanges: changes, targetMismatches: mismatches, documents: documents,
      resolvedLimboDocuments: documents(mentionedOutsideOf: listening), filteredTargets: filtered, position: position)
    event.hasReset = hasReset
    hasReset = false
    (documents, mentions, mentioned, mismatches, filtered) = ([:], [], [], [:], [])
    (news, position) = ([], RemoteEvent.Position())
    return event
  }
}

/// A set of document names that may contain false positives, but no false negatives (PROTOCOL §2.5).
package struct BloomFilter: Sendable {
  package struct Invalid: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String
  }

  private let bitmap: [UInt8]
  private let bitCount: UInt64
  private let hashCount: Int

  /// - Throws: the reason why the bits are invalid: padding outside 0…7, a negative hash count, a hash count of zero
  ///   with a bitmap, or padding without a bitmap.
  package init(_ bits: BloomFilterBits) throws(Invalid) {
    guard (0...7).contains(bits.padding) else { throw Invalid(description: "padding \(bits.padding) is not in 0…7") }
    guard bits.hashCount >= 0 else { throw Invalid(description: "hash count \(bits.hashCount) is negative") }
    if bits.bitmap.isEmpty {
      guard bits.padding == 0 else { throw Invalid(description: "padding \(bits.padding) without a bitmap") }
    } else {
      guard bits.hashCount > 0 else { throw Invalid(description: "hash count 0 with a bitmap") }
    }
    bitmap = bits.bitmap
    bitCount = UInt64(bits.bitmap.count * 8 - bits.padding)
    hashCount = bits.hashCount
  }

  /// Whether the filter has no bits. Such a filter contains no names and cannot explain a difference in document
  /// counts.
  package var isEmpty: Bool { bitCount == 0 }

  /// - Parameter name: the full resource name, `projects/P/databases/D/documents/…`.
  package func mightContain(_ name: String) -> Bool {
    guard bitCount > 0 else { return false }
    let digest = MD5(name.utf8)
    return (0..<UInt64(hashCount)).allSatisfy { round in
      let bit = (digest.low &+ round &* digest.high) % bitCount
      return bitmap[Int(bit / 8)] & (1 << UInt8(bit % 8)) != 0
    }
  }
}
