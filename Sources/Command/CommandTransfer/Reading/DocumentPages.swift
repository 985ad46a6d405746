// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreProtocol
package import FirestoreQuery
import Synchronization

/// The result of a query, read from the server page by page, so that only one page is in memory. If the query has a
/// limit from the end (`limitToLast`), the result is a single page.
package struct DocumentPages {
  /// The number of documents per page in key order. In this order, the cost of a page depends only on its contents.
  private static let pageSize = 1000
  /// The number of documents per page in any other order. The embedded backend scans the whole collection for each
  /// page.
  private static let orderedPageSize = 20_000

  private let datastore: any Datastore
  private let database: DatabaseID
  private let pageSize: Int
  private let view: ReadView
  /// Whether the query has a limit from the end (`limitToLast`). Such a query is read in reverse order, with a limit
  /// from the beginning.
  private let isBackwards: Bool
  private var query: Query
  private var remaining: Int?
  private var isFinished = false

  /// - Parameter projection: the fields to read; `nil` for all. The fields of the order are always read.
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

  /// Skips documents. Call this before `next`.
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
  /// Creates a mask without the paths that are inside other paths.
  package init(outermost paths: Set<FieldPath>) {
    self.init(paths.filter { path in !paths.contains { $0 != path && $0.isPrefix(of: path) } })
  }
}

/// Reads all documents below a path with a few queries over all collections, and passes on each result as it arrives.
/// Reading collection by collection would need a request for each document, to list the collections below it.
struct DescendantPages: Sendable {
  /// The maximum number of documents in the result of one query. For each query, the embedded backend scans all
  /// remaining documents and stores up to twice as many names.
  private static let pageSize = 40_000

  let datastore: any Datastore
  var request: DescendantsRequest

  /// - Parameter projection: the fields to read; `nil` for all fields.
  init(below path: ResourcePath, at datastore: any Datastore, projection: FieldMask?) {
    self.datastore = datastore
    request = DescendantsRequest(path, limit: Self.pageSize, ReadView(projection: projection))
  }

  /// - Returns: `false` if the backend does not support such queries. In this case no document was visited.
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
  /// Whether the server rejects this kind of query, although it may support other queries.
  fileprivate var isAboutTheQuery: Bool { code == .unimplemented || code == .invalidArgument }
}

/// The progress of a query.
private final class Progress: Sendable {
  private let state: Mutex<DescendantsRequest>

  init(_ request: DescendantsRequest) { state = Mutex(request) }

  var request: DescendantsRequest { state.withLock { $0 } }

  func pass(_ documents: [Document]) { state.withLock { $0.pass(documents) } }
}

/// Passes elements from one task to another, one at a time. The sender waits until the receiver has received the
/// previous element.
final class ElementChannel<Element: Sendable>: Sendable {
  private struct State {
    var element: Element?
    var isEnded = false
    var giver: CheckedContinuation<Void, Never>?
    var taker: CheckedContinuation<Void, Never>?

    /// Returns the waiting tasks. When resumed, each task checks again whether it can continue.
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

  /// - Returns: the next element; `nil` after the end.
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

  /// Ends the channel. No more elements can be sent. An element that was already sent can still be received.
  func end() {
    let woken = state.withLock { state in
      state.isEnded = true
      return state.wake()
    }
    for waiting in woken { waiting.resume() }
  }

  /// Waits for a change.
  /// - Parameter enqueue: returns whether the task must wait. If so, it stores the continuation.
  private func wait(_ enqueue: (inout State, CheckedContinuation<Void, Never>) -> Bool) async {
    await withCheckedContinuation { continuation in
      let waits = state.withLock { enqueue(&$0, continuation) }
      if !waits { continuation.resume() }
    }
  }
}
