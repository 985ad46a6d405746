// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreProtocol
package import FirestoreQuery
import Synchronization

/// A query's result from the server, page by page, so that only one page is in memory. A query with a limit from the
/// end is read as a single page.
package struct DocumentPages {
  /// The page size in key order, where the cost depends only on the page's content.
  private static let pageSize = 1000
  /// The page size in any other order: the embedded backend scans the whole collection for each page.
  private static let orderedPageSize = 20_000

  private let datastore: any Datastore
  private let database: DatabaseID
  private let pageSize: Int
  private let view: ReadView
  /// Whether the query has a limit from the end. It is read in reverse order, with a limit from the beginning.
  private let isBackwards: Bool
  private var query: Query
  private var remaining: Int?
  private var isFinished = false

  /// - Parameter projection: the fields to read, in addition to the order's fields; `nil` for all.
  package init(
    of query: Query, at datastore: any Datastore, _ database: DatabaseID, projection: FieldMask? = nil
  ) {
    self.datastore = datastore
    self.database = database
    isBackwards = query.limitType == .last
    self.query = query.target.query
    remaining = query.limit
    pageSize = query.orderBy[0].path.isDocumentID ? Self.pageSize : Self.orderedPageSize
    let order = query.orderBy.map(\.path).filter { !$0.isDocumentID }
    view = ReadView(projection: projection.map { FieldMask(outermost: $0.paths.union(order)) })
  }

  /// Skips documents. Call it before `next`.
  package mutating func drop(_ count: Int) async throws(RPCStatus) {
    if count == 0 { return }
    guard let key = try await datastore.key(at: count, of: query.target) else {
      isFinished = true
      return
    }
    guard let first = try await datastore.lookup([key], view).first, first.exists else {
      throw RPCStatus(.aborted, "\(key) was deleted during the count. Try again.")
    }
    query.start = Bound(values: position(of: first), isInclusive: true)
  }

  /// - Returns: the next documents, in order; `nil` after the last.
  package mutating func next() async throws(RPCStatus) -> [Document]? {
    guard isBackwards else { return try await nextPage() }
    var documents: [Document] = []
    while let page = try await nextPage() { documents += page }
    return documents.isEmpty ? nil : documents.reversed()
  }

  private mutating func nextPage() async throws(RPCStatus) -> [Document]? {
    if isFinished { return nil }
    let size = min(remaining ?? pageSize, pageSize)
    query.limit = size
    let page = try await datastore.runQuery(query.target, view)
    remaining = remaining.map { $0 - page.count }
    isFinished = page.count < size || remaining == 0
    if let last = page.last { query.start = Bound(values: position(of: last), isInclusive: false) }
    return page.isEmpty ? nil : page
  }

  private func position(of document: Document) -> [Value] {
    query.orderBy.map { order in
      order.path.isDocumentID ? .reference(database, document.key) : document.data?[order.path] ?? .null
    }
  }
}

extension FieldMask {
  /// Makes a mask without paths that other paths already cover.
  package init(outermost paths: Set<FieldPath>) {
    self.init(paths.filter { path in !paths.contains { $0 != path && $0.isPrefix(of: path) } })
  }
}

/// All documents below a path, from a few queries over all collections. Results are passed on as they arrive. Reading
/// collection by collection would take one request per document, to list the collections below it.
struct DescendantPages: Sendable {
  /// The document count of one query. The embedded backend scans all remaining documents for each query, and holds the
  /// names of twice as many documents.
  private static let pageSize = 40_000

  let datastore: any Datastore
  var request: DescendantsRequest

  /// - Parameter projection: the fields to read; `nil` for all.
  init(below path: ResourcePath, at datastore: any Datastore, projection: FieldMask?) {
    self.datastore = datastore
    request = DescendantsRequest(path, limit: Self.pageSize, ReadView(projection: projection))
  }

  /// - Returns: `false`, without visiting anything, if the backend does not support such queries.
  func visit(_ body: (Document) async throws -> Void) async throws -> Bool {
    let pieces = ElementChannel<[Document]>()
    let request = request
    return try await withThrowingTaskGroup(of: Bool.self) { group in
      group.addTask {
        defer { pieces.end() }
        return try await read(request, to: pieces)
      }
      do {
        while let piece = await pieces.take() {
          for document in piece { try await body(document) }
        }
      } catch {
        pieces.end()
        group.cancelAll()
        throw error
      }
      return try await group.next() ?? true
    }
  }

  private func read(_ first: DescendantsRequest, to pieces: ElementChannel<[Document]>) async throws(RPCStatus) -> Bool
  {
    var (request, isFirst) = (first, true)
    while true {
      let asked = request
      let progress = Progress(request)
      do throws(RPCStatus) {
        try await datastore.visitDescendants(request) { documents in
          progress.pass(documents)
          return await pieces.give(documents)
        }
        request = progress.request
        if request.limit > 0 { return true }
      } catch {
        request = progress.request
        let hasCome = request.last != asked.last
        if isFirst, !hasCome, error.isAboutTheQuery { return false }
        // A long response can be interrupted; the next request continues it.
        guard hasCome, error.code == .unavailable || error.code == .deadlineExceeded, !Task.isCancelled else {
          throw error
        }
      }
      isFirst = false
      request.limit = Self.pageSize
    }
  }
}

extension RPCStatus {
  /// Whether the server does not support this kind of query, but may support others.
  fileprivate var isAboutTheQuery: Bool { code == .unimplemented || code == .invalidArgument }
}

/// The progress of a query.
private final class Progress: Sendable {
  private let state: Mutex<DescendantsRequest>

  init(_ request: DescendantsRequest) { state = Mutex(request) }

  var request: DescendantsRequest { state.withLock { $0 } }

  func pass(_ documents: [Document]) { state.withLock { $0.pass(documents) } }
}

/// Passes elements from one task to another, one at a time: the sender waits until the previous element was received.
final class ElementChannel<Element: Sendable>: Sendable {
  private struct State {
    var element: Element?
    var isEnded = false
    var giver: CheckedContinuation<Void, Never>?
    var taker: CheckedContinuation<Void, Never>?

    /// Returns the waiting tasks, which then check again.
    mutating func wake() -> [CheckedContinuation<Void, Never>] {
      defer { (giver, taker) = (nil, nil) }
      return [giver, taker].compactMap { $0 }
    }
  }

  private let state = Mutex(State())

  /// - Returns: `false` if the receiver has stopped.
  func give(_ element: Element) async -> Bool {
    while true {
      let (isDone, isEnded, woken) = state.withLock { state in
        if state.isEnded { return (true, true, [CheckedContinuation<Void, Never>]()) }
        guard state.element == nil else { return (false, false, []) }
        state.element = element
        return (true, false, state.wake())
      }
      for waiting in woken { waiting.resume() }
      if isDone { return !isEnded }
      await wait { state, continuation in
        guard state.element != nil, !state.isEnded else { return false }
        state.giver = continuation
        return true
      }
    }
  }

  /// - Returns: `nil` after the end.
  func take() async -> Element? {
    while true {
      let (element, isEnded, woken) = state.withLock { state in
        guard let element = state.element else {
          return (Element?.none, state.isEnded, [CheckedContinuation<Void, Never>]())
        }
        state.element = nil
        return (element, state.isEnded, state.wake())
      }
      for waiting in woken { waiting.resume() }
      if let element { return element }
      if isEnded { return nil }
      await wait { state, continuation in
        guard state.element == nil, !state.isEnded else { return false }
        state.taker = continuation
        return true
      }
    }
  }

  /// Ends the handoff: no element follows. A sent element can still be received.
  func end() {
    let woken = state.withLock { state in
      state.isEnded = true
      return state.wake()
    }
    for waiting in woken { waiting.resume() }
  }

  /// Waits for a change.
  /// - Parameter enqueue: returns whether there is anything to wait for; if so, it stores the continuation.
  private func wait(_ enqueue: (inout State, CheckedContinuation<Void, Never>) -> Bool) async {
    await withCheckedContinuation { continuation in
      let waits = state.withLock { enqueue(&$0, continuation) }
      if !waits { continuation.resume() }
    }
  }
}
