// SPDX-License-Identifier: Apache-2.0
import ClientPort
import Dashboard
import DashboardModel
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSync

/// Searches through whole collections page by page. The pages come from the backend if it is reachable, otherwise from
/// the cache.
extension ClientBridge {
  func search(_ tag: WindowTag, _ run: SearchRun) {
    searches[tag]?.cancel()
    let pages = SearchPages(
      engine: engine, datastore: canReachBackend ? datastore : nil, waiting: waitingKeys)
    searches[tag] = Task { [weak self] in
      do throws(RPCStatus) {
        try await pages.run(run) { news in
          guard !Task.isCancelled else { return false }
          self?.emit(.searched(tag, news))
          return self != nil
        }
      } catch {
        if !Task.isCancelled { self?.emit(.windowFailed(tag, error)) }
      }
      // A stopped search has already released its entry.
      if !Task.isCancelled { self?.searches[tag] = nil }
    }
  }
}

/// The pages of a search. They are read and filtered on a background thread.
struct SearchPages: Sendable {
  /// The number of documents per page from a server, and from the cache. The cache scans the whole collection for each
  /// page.
  private static let served = 2_000
  private static let cached = 10_000

  let engine: SyncEngine
  /// The backend; `nil` while it is unreachable.
  let datastore: (any Datastore)?
  /// The documents that have pending writes.
  let waiting: Set<DocumentKey>

  /// - Parameter tell: called with the result of each page. The search continues as long as it returns `true`.
  func run(
    _ begun: SearchRun, _ tell: @MainActor (SearchUpdate) -> Bool
  ) async throws(RPCStatus) {
    var run = begun
    let pending = try await pendingDocuments(run.request.query)
    var last: DocumentKey?
    let limit = datastore == nil ? Self.cached : Self.served
    while true {
      let page = try await read(run.page(after: last, limit: limit))
      let isLast = page.count < limit
      let news = look(at: page, from: last, isLast: isLast, pending, &run)
      guard await tell(news), !isLast, let key = page.last?.key else { return }
      last = key
    }
  }

  /// Reads documents on a background thread.
  private func read(_ query: Query) async throws(RPCStatus) -> [Document] {
    guard let datastore else { return try await engine.cachedDocuments(query).documents }
    return try await datastore.runQuery(query.target)
  }

  /// The documents with pending writes, as this client sees them. The backend does not have these writes yet.
  private func pendingDocuments(_ query: Query) async throws(RPCStatus) -> [DocumentKey: Document] {
    guard datastore != nil else { return [:] }
    var documents: [DocumentKey: Document] = [:]
    for key in waiting where key.collection == query.path {
      documents[key] = try await engine.cachedDocument(key)
    }
    return documents
  }

  /// Filters a page. Pending documents in the range of the page are inserted in the order of the query.
  private func look(
    at page: [Document], from last: DocumentKey?, isLast: Bool, _ pending: [DocumentKey: Document],
    _ run: inout SearchRun
  ) -> SearchUpdate {
    let isFromCache = datastore == nil
    guard !pending.isEmpty else {
      return run.look(at: page, of: page.count, isLast: isLast, isFromCache: isFromCache)
    }
    let end = isLast ? nil : page.last?.key
    let own = pending.filter { key, document in
      document.exists && last.map { $0 < key } != false && end.map { key <= $0 } != false
        && run.request.query.matches(document)
    }
    let merged = (page.filter { pending[$0.key] == nil } + own.values).sorted { $0.key < $1.key }
    return run.look(at: merged, of: page.count, isLast: isLast, isFromCache: isFromCache)
  }
}
