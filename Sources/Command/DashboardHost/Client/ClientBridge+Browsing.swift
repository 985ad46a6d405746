// SPDX-License-Identifier: Apache-2.0
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
        return bridge.show(cached.union(bridge.listed[parent] ?? []), of: number, below: parent)
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
