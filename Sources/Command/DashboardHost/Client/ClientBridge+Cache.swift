// SPDX-License-Identifier: Apache-2.0
import ClientPort
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreQuery
import FirestoreSync
import FirestoreText

extension ClientBridge {
  func evict(_ scope: EvictionScope, olderThan age: Duration?) {
    request { bridge in
      let total = try await bridge.engine.evict(scope, olderThan: age)
      bridge.tell(.notice(.info, total.account(of: scope, age)))
    }
  }

  /// Evicts documents whose lifetime has expired. Reports evictions if there are any.
  func applyLifetimes() {
    request { bridge in
      for (retention, total) in try await bridge.engine.applyLifetimes() where total.removed > 0 {
        let what = QueryText.line(retention.target)
        let count = "\(grouped(total.removed)) document\(total.removed == 1 ? "" : "s")"
        let age = retention.lifetime.map { ", \(DurationText.text($0)) after their last sync" } ?? ""
        bridge.tell(.notice(.info, "\(count) of \(what) evicted\(age)"))
      }
    }
  }
}

extension EvictionTotal {
  /// The result as text: `120 documents of orders evicted; 50 stay: shown, listened to or pinned`.
  func account(of scope: EvictionScope, _ age: Duration?) -> String {
    let parts = scope.isTombstones ? [tracesAccount(of: scope.path)] : documentsAccount(of: scope)
    return (parts + reasons(age)).joined(separator: "; ")
  }

  private func tracesAccount(of path: ResourcePath?) -> String {
    let count = "\(grouped(tombstones)) tombstone\(tombstones == 1 ? "" : "s")"
    return count + (path.map { " of \($0.text)" } ?? "") + " removed"
  }

  private func documentsAccount(of scope: EvictionScope) -> [String] {
    let path = scope.path
    let isDocument = path?.isDocument == true
    let name: String? = if case .matching(let query) = scope { QueryText.line(query) } else { path?.text }
    let count = "\(grouped(removed)) document\(removed == 1 ? "" : "s")"
    let what = isDocument ? path?.text ?? "" : count + (name.map { " of \($0)" } ?? "")
    let isGone = removed > 0 || !isDocument
    var parts = [isGone ? "\(what) evicted" : "\(what) not evicted"]
    if removed + listened + modified + fresh == 0, isDocument { parts = ["\(what) is not in the cache"] }
    if tombstones > 0 { parts.append("\(grouped(tombstones)) tombstone\(tombstones == 1 ? "" : "s") removed") }
    return parts
  }

  /// The reasons why documents were not evicted.
  private func reasons(_ age: Duration?) -> [String] {
    func stay(_ count: Int) -> String { "\(grouped(count)) stay\(count == 1 ? "s" : "")" }
    var parts: [String] = []
    if listened > 0 { parts.append("\(stay(listened)): shown, listened to or pinned") }
    if modified > 0 { parts.append("\(stay(modified)): with pending writes") }
    if fresh > 0, let age { parts.append("\(stay(fresh)): in sync within \(DurationText.text(age))") }
    return parts
  }
}

extension ClientBridge {
  /// Previews a query. If a preview is running, only the newest of the later requests is queued.
  func preview(_ query: Query) {
    nextPreview = query
    if isPreviewing { return }
    isPreviewing = true
    request { bridge in
      defer { bridge.isPreviewing = false }
      while let query = bridge.nextPreview {
        bridge.nextPreview = nil
        do throws(RPCStatus) {
          bridge.emit(.previewed(query, .success(try await bridge.engine.preview(query))))
        } catch {
          bridge.emit(.previewed(query, .failure(error)))
        }
      }
    }
  }

  /// Adds a local index, so that the query does not have to scan the whole collection.
  func createIndexes(for query: Query) {
    request { bridge in
      let configured = try await bridge.engine.indexes().filter { !$0.isAutomatic }.map(\.definition)
      try await bridge.engine.setIndexes(configured + FieldIndex.answering(query))
    }
  }
}

/// Counts the types of a collection's fields, page by page in id order.
struct FieldTypeCount: Sendable {
  /// The number of documents per page if they are read from a cache. The cache scans the whole collection for each
  /// page.
  private static let read = 10_000

  let path: ResourcePath
  private let database: DatabaseID
  private(set) var types = FieldTypes()
  private var last: DocumentKey?

  init(in path: ResourcePath, of database: DatabaseID) { (self.path, self.database) = (path, database) }

  /// The query for the next page.
  func page(limit: Int) -> Query {
    var query = Query(path: path, limit: limit)
    if let last { query.start = Bound(values: [.reference(database, last)], isInclusive: false) }
    return query
  }

  mutating func add(_ documents: [Document]) {
    for document in documents { types.add(document) }
    last = documents.last?.key ?? last
  }

  /// Counts the documents in a cache on a background thread.
  func run(over engine: SyncEngine) async throws(RPCStatus) -> FieldTypes {
    var count = self
    while true {
      let documents = try await engine.cachedDocuments(count.page(limit: Self.read)).documents
      count.add(documents)
      if documents.count < Self.read { return count.types }
    }
  }
}
