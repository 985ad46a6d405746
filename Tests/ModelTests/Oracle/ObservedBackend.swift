// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreTesting
import Synchronization

/// A backend beside the model of what it must hold: every commit is made at both and compared.
final class ObservedBackend: Sendable {
  private struct State {
    var model = BackendModel()
    /// The answers to clients' requests: what was committed is never committed again.
    var answered: [WriteRequestID: SnapshotVersion] = [:]
  }

  let database: DatabaseID
  private let state = Mutex(State())

  init(_ database: DatabaseID) { self.database = database }

  var model: BackendModel { state.withLock { $0.model } }

  /// - Throws: `Violation` if the two differ; what the backend says if it refuses, with good reason.
  @discardableResult
  func commit(
    _ mutations: [Mutation], request: WriteRequestID? = nil, on backend: isolated LocalBackend
  ) throws -> CommitResponse {
    let answer: Result<CommitResponse, RPCStatus>
    do throws(RPCStatus) {
      answer = .success(try backend.commit(mutations, in: database, request: request))
    } catch {
      answer = .failure(error)
    }
    try state.withLock { state in
      if let request, let earlier = state.answered[request] {
        guard case .success(let response) = answer, response.commitTime == earlier else {
          throw Violation(description: "\(request) was committed at \(earlier), then answered with \(answer)")
        }
      } else {
        try state.model.commit(mutations, answer)
        if let request, case .success(let response) = answer { state.answered[request] = response.commitTime }
      }
    }
    for document in try backend.lookup(Set(mutations.map(\.key)).sorted(), in: database).documents {
      try model.compare(with: document)
    }
    return try answer.get()
  }

  func clear(_ backend: isolated LocalBackend) throws {
    try backend.deleteAllDocuments(in: database)
    let version = try backend.lookup([], in: database).readTime
    state.withLock { $0.model.clear(at: version) }
  }

  /// Every document is as the model has it, and every query is answered as somebody does who looks at each of them.
  func check(_ backend: LocalBackend) async throws {
    for document in try await backend.documents(ModelQueries.keys, in: database).documents {
      try model.compare(with: document)
    }
    for (index, query) in ModelQueries.all.enumerated() {
      var found = try await backend.run(ReadRequest(ServedQuery(query.target), in: database)).documents
      if query.limitType == .last { found.reverse() }
      let expected = result(of: query)
      try require(
        found.map(\.key) == expected.map(\.key),
        "the backend answers query \(index) with \(found.map(\.key)), not \(expected.map(\.key))")
    }
  }

  /// What the query selects now.
  func result(of query: Query) -> [Document] {
    let model = model
    return ModelQueries.select(query, from: ModelQueries.keys.map { model.document($0) })
  }

  /// The mutations with their symbolic preconditions replaced by the versions that documents have here.
  func resolved(_ mutations: [Mutation]) -> [Mutation] {
    let model = model
    return mutations.map { mutation in
      guard mutation.precondition == ModelQueries.asItIs, let stored = model.documents[mutation.key] else {
        return mutation
      }
      var mutation = mutation
      mutation.precondition = .updateTime(stored.updateTime)
      return mutation
    }
  }

  /// Packs a query's result as it was some commits ago.
  /// - Returns: `nil` if there were not that many.
  func bundle(_ choice: BundleChoice) -> Bundle? {
    let model = model
    guard choice.age < model.commitTimes.count else { return nil }
    let time = model.commitTimes[model.commitTimes.count - 1 - choice.age]
    let query = ModelQueries.all[choice.query]
    let documents = ModelQueries.keys.map { BackendModel.document($0, model.stored($0, at: time), at: time) }
    let name = "query \(choice.query)"
    var entries = ModelQueries.select(query, from: documents).map { Bundle.Entry(document: $0, queries: [name]) }
    if choice.namesMissing {
      entries += documents.filter { !$0.exists && model.knows($0.key) }.map { Bundle.Entry(document: $0, queries: []) }
    }
    return Bundle(
      id: "bundle \(choice.name)", createTime: time,
      queries: [Bundle.NamedQuery(name: name, query: query, readTime: time)], entries: entries)
  }
}

/// A bundle that is packed when its turn comes.
struct BundleChoice: Hashable, Sendable {
  /// A bundle takes the place of an older one of its name.
  var name: Int
  /// Of `ModelQueries.all`.
  var query: Int
  /// How many commits ago it was made.
  var age: Int
  /// Whether it tells of documents that were deleted.
  var namesMissing: Bool
}
