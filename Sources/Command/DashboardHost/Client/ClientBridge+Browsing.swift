// SPDX-License-Identifier: Apache-2.0
import ClientPort
import CommandOutput
import CommandTransfer
import Dashboard
import DashboardModel
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSync

/// Requests for browsing. The backend answers them if it is reachable, otherwise the cache does.
extension ClientBridge {
  /// - Returns: a task that ends when the response was reported.
  @discardableResult
  func listCollections(below parent: ResourcePath) -> Task<Void, Never> {
    request { bridge in
      let number = bridge.listed.begin()
      let cached = Set(try await bridge.engine.cachedCollectionIDs(below: parent))
      // The cached collections are shown immediately: an unreachable server responds late, and only with an error. No
      // shown collection is removed meanwhile.
      let isNews = !cached.isEmpty && bridge.listed.isKept(by: cached, below: parent)
      guard bridge.canReachBackend else {
        // Collections from the server's last list remain, because the cache need not have all of them.
        let known = bridge.observed == nil ? bridge.listed[parent] ?? [] : []
        return bridge.show(cached.union(known), of: number, below: parent)
      }
      if isNews { bridge.show(cached, of: number, below: parent) }
      do throws(RPCStatus) {
        let stored = try await bridge.datastore.listCollectionIDs(below: parent)
        // New writes may have reached the cache during the server request.
        let cached = try await bridge.engine.cachedCollectionIDs(below: parent)
        bridge.show(Set(stored).union(cached), of: number, below: parent)
        if parent.isRoot { bridge.lookElsewhere() }
      } catch {
        // A failure does not contradict the server's earlier list, which remains.
        let cached = try await bridge.engine.cachedCollectionIDs(below: parent)
        bridge.show((bridge.listed[parent] ?? []).union(cached), of: number, below: parent)
        bridge.emit(.collectionsUnlisted(below: parent, error))
        // The network pane explains failures of the connection, and only administrators may list collections.
        guard [.unavailable, .deadlineExceeded, .permissionDenied].contains(error.code) else { throw error }
      }
    }
  }

  private func show(_ ids: Set<String>, of number: ListedCollections.Number, below parent: ResourcePath) {
    guard listed.take(ids, of: number, below: parent) else { return }
    emit(.collections(below: parent, ids.sorted { $0.compareUTF8($1) == .ascending }))
  }

  /// Looks for another database of the backend that has documents: now, and every minute while this one is empty. An
  /// application with another project id would otherwise look as if it had written nothing.
  private func lookElsewhere() {
    listed.looking?.cancel()
    guard listed[.root]?.isEmpty == true else { return }
    listed.looking = request { bridge in
      while bridge.listed[.root]?.isEmpty == true {
        if bridge.canReachBackend {
          // A backend that does not list its databases, such as Cloud Firestore, is not asked again.
          guard let all = try? await bridge.datastore.databases(of: nil) else { return }
          let own = bridge.transferPlace.database
          let others = all.filter { $0 != own }
          let found = others.first.map {
            OtherDatabase(name: $0.text, options: $0.options(from: own), count: others.count)
          }
          if found != bridge.listed.elsewhere { bridge.tell(.dataElsewhere(found)) }
          bridge.listed.elsewhere = found
        }
        try await Task.sleep(for: .seconds(60))
      }
    }
  }

  /// Lists the collections of a path again if a document is in a collection that the list does not contain.
  func noteCollections(of keys: some Sequence<DocumentKey>) {
    for parent in listed.noteNew(of: keys) { listCollections(below: parent) }
  }

  /// Lists nonexistent documents that have subcollections. Servers find them by scanning the documents around them, so
  /// only collections of moderate size are queried.
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
        // Users who may read a collection may not be allowed to list it: the tree then shows no missing documents.
      }
    }
  }

  private static let largestListing = 3_000

  /// Counts the documents of a collection. If this is requested during a count, another count follows, so that the last
  /// result is current.
  package func count(_ collection: ResourcePath) {
    let query = Query(path: collection)
    guard canReachBackend else {
      request { bridge in
        let count = try await bridge.engine.cachedDocuments(query).count
        // The backend's count may have arrived meanwhile.
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

  /// Counts the documents of a collection again, even if other counts are in progress.
  /// - Returns: a task that ends when the count or its failure was reported.
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

/// Notifications of other clients' commits, if the backend provides them.
extension ClientBridge {
  /// The minimum and the maximum delay before a retry of following commits.
  private static let (firstPause, longestPause) = (Duration.milliseconds(500), Duration.seconds(10))

  /// Starts or stops following commits. While the client is offline, commits are not followed.
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

  /// Follows commits until the task is canceled. Also ends if the backend reports that it does not support this.
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
      // Nothing more is followed after cancellation.
      try? await Task.sleep(for: pause)
      pause = min(pause * 2, longestPause)
    }
  }
}

/// The collections that were listed last, by parent path. Several requests for the same path may run concurrently. The
/// response to an older request never replaces the response to a newer one, because this would remove the user's
/// selection.
struct ListedCollections {
  /// The position of a request in the order of all requests.
  struct Number: Comparable {
    fileprivate let value: Int

    static func < (one: Number, other: Number) -> Bool { one.value < other.value }
  }

  private struct Listed {
    var number: Number
    var ids: Set<String>
  }

  /// The search for other databases while this one is empty, and the last one that was reported.
  var looking: Task<Void, Never>?
  var elsewhere: OtherDatabase?
  private var begun = 0
  private var listed: [ResourcePath: Listed] = [:]

  /// The parent paths of all lists.
  var parents: [ResourcePath] { Array(listed.keys) }

  subscript(parent: ResourcePath) -> Set<String>? { listed[parent]?.ids }

  /// Starts a request that is newer than all earlier requests.
  mutating func begin() -> Number {
    begun += 1
    return Number(value: begun)
  }

  /// Stores the result of a request.
  /// - Returns: `false` if the result of a newer request is already stored. The given result is then ignored.
  mutating func take(_ ids: Set<String>, of number: Number, below parent: ResourcePath) -> Bool {
    if let newer = listed[parent]?.number, newer > number { return false }
    listed[parent] = Listed(number: number, ids: ids)
    return true
  }

  /// Whether a list contains all collections that were listed before.
  func isKept(by ids: Set<String>, below parent: ResourcePath) -> Bool { ids.isSuperset(of: self[parent] ?? []) }

  /// Adds collections that are missing in the lists although documents in them are known. The responses to requests
  /// that are in progress may not contain these collections, so they are treated as outdated.
  /// - Returns: the parent paths whose collections must be listed again.
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
