// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery

/// A call with one request and one response. Wrappers forward a call without knowing its type. Backends implement one
/// function for each type.
package protocol DatastoreRead<Answer>: Sendable {
  associatedtype Answer: Sendable

  /// Whether the call changes nothing and can therefore be repeated.
  var isRepeatable: Bool { get }
  /// A copy of the read that reads as of the given time.
  /// - Throws: `unimplemented` if the read does not support past times.
  func at(_ time: SnapshotVersion) throws(RPCStatus) -> Self
  /// Requests the result from a backend.
  func answer(by backend: some AnsweringDatastore) async throws(RPCStatus) -> Answer
}

extension DatastoreRead {
  package var isRepeatable: Bool { true }
}

/// A read of documents as of one time, which may be in the past.
package protocol TimedRead: DatastoreRead {
  var view: ReadView { get set }
}

extension TimedRead {
  package func at(_ time: SnapshotVersion) -> Self {
    var past = self
    past.view.time = time
    return past
  }
}

/// A datastore that answers reads itself instead of forwarding them.
package protocol AnsweringDatastore: Datastore {
  func answer(_ read: LookupRead) async throws(RPCStatus) -> [Document]
  func answer(_ read: QueryRead) async throws(RPCStatus) -> [Document]
  func answer(_ read: AggregationRead) async throws(RPCStatus) -> [String: Value]
  func answer(_ read: ExplainRead) async throws(RPCStatus) -> ExplainMetrics?
  func answer(_ read: CollectionIDsRead) async throws(RPCStatus) -> [String]
  func answer(_ read: MissingDocumentsRead) async throws(RPCStatus) -> [DocumentKey]
  func answer(_ read: DatabasesRead) async throws(RPCStatus) -> [DatabaseID]
  func answer(_ read: PipelineExecution) async throws(RPCStatus) -> PipelineResponse
}

extension AnsweringDatastore {
  package func read<Read: DatastoreRead>(_ read: Read) async throws(RPCStatus) -> Read.Answer {
    try await read.answer(by: self)
  }
}

// MARK: Reads

/// Reads documents as of one time, in the order of the given keys. If a document does not exist, it is returned as
/// `missing`.
package struct LookupRead: TimedRead {
  package let keys: [DocumentKey]
  package var view: ReadView

  package func answer(by backend: some AnsweringDatastore) async throws(RPCStatus) -> [Document] {
    try await backend.answer(self)
  }
}

/// Reads the documents that a query finds, in the query's order.
package struct QueryRead: TimedRead {
  package let target: Target
  /// The number of documents to skip before the limit applies. Ignored for a document target.
  package var offset = 0
  package var view: ReadView

  package func answer(by backend: some AnsweringDatastore) async throws(RPCStatus) -> [Document] {
    try await backend.answer(self)
  }
}

/// Computes aggregations over a query's documents. Returns the results by alias.
package struct AggregationRead: TimedRead {
  package let target: Target
  package let aggregations: [Aggregation]
  package var view: ReadView

  package func answer(by backend: some AnsweringDatastore) async throws(RPCStatus) -> [String: Value] {
    try await backend.answer(self)
  }
}

/// Requests the server's explanation of a query. The answer is `nil` if the server does not explain queries.
package struct ExplainRead: TimedRead {
  /// The target to explain. It must not be a document target.
  package let target: Target
  /// Whether the server also runs the query and measures its cost.
  package let isRun: Bool
  package var view: ReadView

  package init(target: Target, isRun: Bool, view: ReadView = .latest) {
    (self.target, self.isRun, self.view) = (target, isRun, view)
  }

  package func answer(by backend: some AnsweringDatastore) async throws(RPCStatus) -> ExplainMetrics? {
    try await backend.answer(self)
  }
}

/// Reads the ids of the collections directly below a document or the root, sorted by UTF-8.
package struct CollectionIDsRead: TimedRead {
  package let parent: ResourcePath
  package var view: ReadView

  package func answer(by backend: some AnsweringDatastore) async throws(RPCStatus) -> [String] {
    try await backend.answer(self)
  }
}

/// Reads the keys of a collection's missing documents, if there are documents below them. The keys are in order.
package struct MissingDocumentsRead: TimedRead {
  package let collection: ResourcePath
  package var view: ReadView

  package func answer(by backend: some AnsweringDatastore) async throws(RPCStatus) -> [DocumentKey] {
    try await backend.answer(self)
  }
}

/// Reads the databases that have documents, sorted by name.
package struct DatabasesRead: DatastoreRead {
  /// The id of the project whose databases to list; `nil` to list the databases of all projects.
  package let project: String?

  /// Returns the read unchanged, because backends list only current databases.
  package func at(_ time: SnapshotVersion) -> DatabasesRead { self }
  package func answer(by backend: some AnsweringDatastore) async throws(RPCStatus) -> [DatabaseID] {
    try await backend.answer(self)
  }
}

/// Executes a pipeline, and returns all of its results. The pipeline may also write.
package struct PipelineExecution: DatastoreRead {
  package let pipeline: PipelineMessage

  package var isRepeatable: Bool { !pipeline.writes }
  package func at(_ time: SnapshotVersion) throws(RPCStatus) -> PipelineExecution {
    throw RPCStatus(.unimplemented, "Pipelines cannot read past versions.")
  }
  package func answer(by backend: some AnsweringDatastore) async throws(RPCStatus) -> PipelineResponse {
    try await backend.answer(self)
  }
}

// MARK: Asking

extension Datastore {
  package func lookup(_ keys: [DocumentKey], _ view: ReadView = .latest) async throws(RPCStatus) -> [Document] {
    try await read(LookupRead(keys: keys, view: view))
  }

  package func runQuery(_ target: Target, _ view: ReadView = .latest) async throws(RPCStatus) -> [Document] {
    try await read(QueryRead(target: target, view: view))
  }

  /// The names of the documents that `runQuery` finds, in the target's order.
  package func keys(of target: Target) async throws(RPCStatus) -> [DocumentKey] {
    try await runQuery(target, .names).map(\.key)
  }

  /// The name of the document at an offset in the target's order, ignoring the limit; `nil` if there is none.
  package func key(at offset: Int, of target: Target) async throws(RPCStatus) -> DocumentKey? {
    var target = target
    target.limit = 1
    return try await read(QueryRead(target: target, offset: offset, view: .names)).first?.key
  }

  package func aggregate(
    _ target: Target, _ aggregations: [Aggregation], at time: SnapshotVersion? = nil
  ) async throws(RPCStatus) -> [String: Value] {
    try await read(AggregationRead(target: target, aggregations: aggregations, view: ReadView(at: time)))
  }

  package func listCollectionIDs(
    below parent: ResourcePath, at time: SnapshotVersion? = nil
  ) async throws(RPCStatus) -> [String] {
    try await read(CollectionIDsRead(parent: parent, view: ReadView(at: time)))
  }

  package func missingDocuments(
    in collection: ResourcePath, at time: SnapshotVersion? = nil
  ) async throws(RPCStatus) -> [DocumentKey] {
    try await read(MissingDocumentsRead(collection: collection, view: ReadView(at: time)))
  }

  package func databases(of project: String?) async throws(RPCStatus) -> [DatabaseID] {
    try await read(DatabasesRead(project: project))
  }

  package func execute(_ pipeline: PipelineMessage) async throws(RPCStatus) -> PipelineResponse {
    try await read(PipelineExecution(pipeline: pipeline))
  }
}

/// The read time, and the fields to read.
package struct ReadView: Hashable, Sendable {
  /// The read time. It may be in the past, as far back as the backend supports. `nil` for the newest documents.
  package var time: SnapshotVersion?
  /// The fields to read. `nil` reads all fields; an empty mask reads only names and versions.
  package var projection: FieldMask?

  package init(at time: SnapshotVersion? = nil, projection: FieldMask? = nil) {
    self.time = time
    self.projection = projection
  }

  /// The newest documents with all fields.
  package static let latest = ReadView()
  /// The newest documents without their fields.
  package static let names = ReadView(projection: FieldMask([]))

  /// Reduces documents to the fields that this view includes.
  package func shown(_ documents: [Document]) -> [Document] {
    guard let projection else { return documents }
    return documents.map { document in
      guard case .found(let data) = document.state else { return document }
      var shown = document
      // A view without fields needs no decoding.
      let fields = projection.paths.isEmpty ? Fields() : data.fields.projected(to: projection)
      shown.state = .found(DocumentData(fields))
      return shown
    }
  }
}

/// A request for the documents at any depth below a path, in the order of their keys. The path is a collection, a
/// document, or the root for the whole database. Uses a query without a collection (PROTOCOL §3.7).
package struct DescendantsRequest: Hashable, Sendable {
  package var path: ResourcePath
  /// The last document that was received, after which the request continues. `nil` to start with the first document.
  package var last: DocumentKey?
  package var limit: Int
  package var view: ReadView

  package init(_ path: ResourcePath, limit: Int, _ view: ReadView = .latest) {
    self.path = path
    self.limit = limit
    self.view = view
  }

  /// Advances the request, so that it continues after the given documents.
  package mutating func pass(_ documents: [Document]) {
    limit -= documents.count
    if let key = documents.last?.key { last = key }
  }

  /// The query for the request. The query's path is the document or root below which the request searches.
  package func target(in database: DatabaseID) -> Target {
    let isCollection = path.isCollection && !path.isRoot
    var (start, end): (Bound?, Bound?) = (nil, nil)
    if isCollection {
      // The range starts at the smallest key in the collection, and ends at the smallest key in the next possible
      // collection.
      start = Bound(values: [.reference(database, Self.firstKey(in: path))], isInclusive: true)
      let next = path.parent.appending(path.last + "\0")
      end = Bound(values: [.reference(database, Self.firstKey(in: next))], isInclusive: false)
    }
    if let last { start = Bound(values: [.reference(database, last)], isInclusive: false) }
    return Target(
      path: isCollection ? path.parent : path, filters: [], orderBy: [OrderBy(.documentID)], limit: limit, start: start,
      end: end)
  }

  /// The smallest possible key in a collection. Numeric ids sort first and are ordered by number.
  private static func firstKey(in collection: ResourcePath) -> DocumentKey {
    DocumentKey(unchecked: collection.appending("__id\(Int64.min)__"))
  }
}
