// SPDX-License-Identifier: Apache-2.0
import ClientPort
import Dashboard
import DashboardModel
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSync

/// Requests for what there is to browse: of the backend where it can be reached, else of the cache.
extension ClientBridge {
  /// - Returns: ends when the answer was told.
  @discardableResult
  func listCollections(below parent: ResourcePath) -> Task<Void, Never> {
    request { bridge in
      let number = bridge.listed.begin()
      let cached = Set(try await bridge.engine.cachedCollectionIDs(below: parent))
      // The cache's collections are shown at once: a server that is out of reach answers late, and only that it is.
      // Nothing that is shown goes for that long.
      let isNews = !cached.isEmpty && bridge.listed.isKept(by: cached, below: parent)
      guard bridge.canReachBackend else {
        // Collections that the server was known to have stay: the cache need not have seen all of them.
        let known = bridge.observed == nil ? bridge.listed[parent] ?? [] : []
        return bridge.show(cached.union(known), of: number, below: parent)
      }
      if isNews { bridge.show(cached, of: number, below: parent) }
      do throws(RPCStatus) {
        let stored = try await bridge.datastore.listCollectionIDs(below: parent)
        // Writes may have come into the cache while the server was asked.
        let cached = try await bridge.engine.cachedCollectionIDs(below: parent)
        bridge.show(Set(stored).union(cached), of: number, below: parent)
      } catch {
        // A failure says nothing of what the server has: what was listed before stays.
        let cached = try await bridge.engine.cachedCollectionIDs(below: parent)
        bridge.show((bridge.listed[parent] ?? []).union(cached), of: number, below: parent)
        bridge.emit(.collectionsUnlisted(below: parent, error))
        // The network pane explains failures of the connection.
        guard error.code == .unavailable || error.code == .deadlineExceeded else { throw error }
      }
    }
  }

  private func show(_ ids: Set<String>, of number: ListedCollections.Number, below parent: ResourcePath) {
    guard listed.take(ids, of: number, below: parent) else { return }
    emit(.collections(below: parent, ids.sorted { $0.compareUTF8($1) == .ascending }))
  }

  /// Lists a path again if a document shows that it has a collection the list lacks.
  func noteCollections(of keys: some Sequence<DocumentKey>) {
    for parent in listed.noteNew(of: keys) { listCollections(below: parent) }
  }

  /// Servers find missing documents by looking through their neighbours, so only collections of a moderate size are
  /// asked about.
  package func listMissing(in collection: ResourcePath) {
    request { bridge in
      guard bridge.canReachBackend else { return }
      let limit = Self.largestListing
      let target = Query(path: collection, limit: limit + 1).target
      do throws(RPCStatus) {
        let figures = try await bridge.datastore.aggregate(target, [Aggregation(alias: "n", function: .count)])
        guard case .integer(let count)? = figures["n"], count <= limit else { return }
        bridge.emit(.missingDocuments(in: collection, try await bridge.datastore.missingDocuments(in: collection)))
      } catch {
        // Users who may read a collection may still not list it: the tree then shows no missing documents.
      }
    }
  }

  private static let largestListing = 3_000

  /// Counts a collection; one that is being counted is counted again then, so that the last answer is the newest.
  package func count(_ collection: ResourcePath) {
    let query = Query(path: collection)
    guard canReachBackend else {
      request { bridge in
        let count = try await bridge.engine.cachedDocuments(query).count
        // Meanwhile the backend may have been counted.
        if !bridge.canReachBackend { bridge.emit(.counted(collection, count, isFromCache: true)) }
      }
      return
    }
    guard counting.updateValue(true, forKey: collection) == nil else { return }
    counting[collection] = false
    request { bridge in
      defer { if bridge.counting.removeValue(forKey: collection) == true { bridge.count(collection) } }
      let figures = try await bridge.datastore.aggregate(query.target, [Aggregation(alias: "n", function: .count)])
      if case .integer(let count)? = figures["n"] { bridge.emit(.counted(collection, Int(count))) }
    }
  }

  /// Counts a collection once more, whatever is being counted.
  /// - Returns: ends when the answer was told, or a notice of why there is none.
  func countNow(_ collection: ResourcePath) -> Task<Void, Never> {
    request { bridge in
      let query = Query(path: collection)
      guard bridge.canReachBackend else {
        let count = try await bridge.engine.cachedDocuments(query).count
        return bridge.emit(.counted(collection, count, isFromCache: true))
      }
      let figures = try await bridge.datastore.aggregate(query.target, [Aggregation(alias: "n", function: .count)])
      if case .integer(let count)? = figures["n"] { bridge.emit(.counted(collection, Int(count))) }
    }
  }

  func locate(_ tag: WindowTag, _ query: Query, _ offset: Int) {
    request { bridge in
      guard bridge.canReachBackend else {
        let documents = try await bridge.engine.cachedDocuments(query).documents
        let key = documents.indices.contains(offset) ? documents[offset].key : nil
        return bridge.emit(.located(tag, key, cachedCount: documents.count))
      }
      do throws(RPCStatus) {
        let key = try await bridge.datastore.key(at: offset, of: query.target)
        bridge.emit(.located(tag, key, cachedCount: nil))
      } catch {
        bridge.emit(.windowFailed(tag, error))
      }
    }
  }
}

/// News of the commits of others, as long as the backend tells of them.
extension ClientBridge {
  /// The pauses between attempts to hear of commits again.
  private static let (firstPause, longestPause) = (Duration.milliseconds(500), Duration.seconds(10))

  /// Begins to follow the commits, or ends it: a client that is offline hears nothing.
  func followCommits(_ isWanted: Bool) {
    guard tellsCommits, isWanted != (following != nil) else { return }
    following?.cancel()
    following = nil
    if isWanted {
      following = Task { [weak self, datastore] in await Self.hearCommits(of: datastore) { self?.emit($0) } }
    } else {
      emit(.commitsUnheard("offline"))
    }
  }

  /// Follows the commits until the backend says that it does not tell of them, or until cancelled.
  private static func hearCommits(
    of datastore: any Datastore, emit: @escaping @MainActor @Sendable (ClientEvent) -> Void
  ) async {
    var pause = firstPause
    while !Task.isCancelled {
      let began = ContinuousClock.now
      let failure: RPCStatus
      do throws(RPCStatus) {
        try await datastore.followCommits { news in
          await MainActor.run { if !Task.isCancelled { emit(.committed(news)) } }
        }
        return
      } catch { failure = error }
      if Task.isCancelled { return }
      emit(.commitsUnheard(failure.lineText))
      switch failure.code {
      case .unimplemented, .permissionDenied, .unauthenticated, .invalidArgument, .notFound: return
      default: break
      }
      if ContinuousClock.now - began > longestPause { pause = firstPause }
      // Cancelled, nothing is followed any more.
      try? await Task.sleep(for: pause)
      pause = min(pause * 2, longestPause)
    }
  }
}

/// Collections as they were last listed, by the path above them. Several listings of one path may be under way at once; an
/// answer to an older question never replaces the answer to a newer one, which would take away what the user has selected.
struct ListedCollections {
  /// The place of a listing in the order in which they were begun.
  struct Number: Comparable {
    fileprivate let value: Int

    static func < (one: Number, other: Number) -> Bool { one.value < other.value }
  }

  private struct Listed {
    var number: Number
    var ids: Set<String>
  }

  private var begun = 0
  private var listed: [ResourcePath: Listed] = [:]

  /// The paths that something was listed below.
  var parents: [ResourcePath] { Array(listed.keys) }

  subscript(parent: ResourcePath) -> Set<String>? { listed[parent]?.ids }

  /// Begins a listing, which is newer than all before it.
  mutating func begin() -> Number {
    begun += 1
    return Number(value: begun)
  }

  /// Stores the result of a listing.
  /// - Returns: false, and nothing is stored, if the result of a newer listing is there.
  mutating func take(_ ids: Set<String>, of number: Number, below parent: ResourcePath) -> Bool {
    if let newer = listed[parent]?.number, newer > number { return false }
    listed[parent] = Listed(number: number, ids: ids)
    return true
  }

  /// Whether showing a list takes no collection away that is listed.
  func isKept(by ids: Set<String>, below parent: ResourcePath) -> Bool { ids.isSuperset(of: self[parent] ?? []) }

  /// Adds the collections that documents show to exist and the lists do not have. Listings that are under way do not know of
  /// them, and are too old.
  /// - Returns: the path above each, to be listed again.
  mutating func noteNew(of keys: some Sequence<DocumentKey>) -> [ResourcePath] {
    var parents: [ResourcePath] = []
    for key in keys {
      let parent = key.collection.parent
      guard listed[parent]?.ids.insert(key.collection.last).inserted == true else { continue }
      let number = begin()
      listed[parent]?.number = number
      parents.append(parent)
    }
    return parents
  }
}
