// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import Synchronization

/// All documents below a path by a few queries over all collections, whose results are read as they arrive: reading
/// collection by collection takes one request for each document, to list the collections below it.
struct DescendantPages: Sendable {
  /// The number of documents of one query. The embedded backend looks at all that are left for each query, and holds
  /// the names of twice as many.
  private static let pageSize = 40_000

  let datastore: any Datastore
  var request: DescendantsRequest

  /// - Parameter projection: the fields to read; `nil` for all.
  init(below path: ResourcePath, at datastore: any Datastore, projection: FieldMask?) {
    self.datastore = datastore
    request = DescendantsRequest(path, limit: Self.pageSize, ReadView(projection: projection))
  }

  /// - Returns: `false`, without any visit, for a backend that has no such query.
  func visit(_ body: (Document) async throws -> Void) async throws -> Bool {
    let pieces = Handoff<[Document]>()
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

  private func read(_ first: DescendantsRequest, to pieces: Handoff<[Document]>) async throws(RPCStatus) -> Bool {
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
        // A long answer may be cut off; the next request continues it.
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
  /// Whether the server does not take queries of this kind, but may answer others.
  fileprivate var isAboutTheQuery: Bool { code == .unimplemented || code == .invalidArgument }
}

/// The progress of a query.
private final class Progress: Sendable {
  private let state: Mutex<DescendantsRequest>

  init(_ request: DescendantsRequest) { state = Mutex(request) }

  var request: DescendantsRequest { state.withLock { $0 } }

  func pass(_ documents: [Document]) { state.withLock { $0.pass(documents) } }
}
