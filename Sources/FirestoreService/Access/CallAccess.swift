// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreRules

/// What the caller of a call may do: what rules allow. Decided in the step of the backend that does it.
struct CallAccess: Sendable {
  let rules: AccessRules
  let user: RulesUser?

  /// Whether there are rules to ask for a database.
  func concerns(_ database: DatabaseID) -> Bool { rules.concern(database.project) }

  /// - Throws: `permission-denied` unless the caller may get all of these documents.
  /// - Returns: the documents on which that depends, besides these.
  @discardableResult
  func get(
    _ documents: [Document], in database: DatabaseID, on backend: isolated LocalBackend
  ) throws(RPCStatus) -> Set<DocumentKey> {
    guard concerns(database) else { return [] }
    var (read, allowance) = (Set<DocumentKey>(), Self.allowance(for: documents.count))
    let source = DocumentSource { key throws(RPCStatus) in
      try backend.lookup([key], in: database).documents.first.flatMap { $0.exists ? $0 : nil }
    }
    for document in documents {
      var request = try request(.get, document.key.path, in: database, at: backend.time)
      request.resource = document.exists ? document : nil
      request.accessAllowance = min(RulesLimits.accesses, allowance)
      let verdict = try decide(request, source)
      read.formUnion(verdict.read)
      allowance -= min(allowance, verdict.accesses)
    }
    return read
  }

  /// - Throws: `permission-denied` unless the rules prove that the caller may read whatever the query finds.
  /// - Returns: the documents on which that depends.
  @discardableResult
  func list(
    _ query: ServedQuery, _ explicitOrderBy: [OrderBy] = [], in database: DatabaseID,
    on backend: isolated LocalBackend
  ) throws(RPCStatus) -> Set<DocumentKey> {
    guard concerns(database) else { return [] }
    if query.scope != .target { throw Self.adminOnly("Queries of all collections") }
    var request = try request(.list, query.target.path, in: database, at: backend.time)
    request.query = RulesQuery(target: query.target, offset: query.offset, explicitOrderBy: explicitOrderBy)
    let source = DocumentSource { key throws(RPCStatus) in
      try backend.lookup([key], in: database).documents.first.flatMap { $0.exists ? $0 : nil }
    }
    return try decide(request, source).read
  }

  /// What is asked before a commit happens.
  var commits: CommitCheck {
    { preview throws(RPCStatus) in
      guard concerns(preview.database) else { return }
      var allowance = Self.allowance(for: preview.entries.count)
      let source = DocumentSource(
        stored: { key throws(RPCStatus) in try preview.stored(key) },
        after: { key throws(RPCStatus) in try preview.after(key) })
      try rules.check(user, for: preview.database)
      for entry in preview.entries {
        let method = entry.method
        var request = RulesRequest(
          method: method, database: preview.database, path: entry.key.path, user: user, time: preview.time,
          resource: entry.before, newResource: method.hasResult ? entry.after : nil)
        request.accessAllowance = min(RulesLimits.accesses, allowance)
        allowance -= min(allowance, try decide(request, source).accesses)
      }
    }
  }

  /// What is asked before a pipeline reads: its first conditions count as those of a query.
  func pipelines(in database: DatabaseID) -> PipelineCheck {
    { read, backend throws(RPCStatus) in
      switch read {
      case .query(let query): try list(query, in: database, on: backend)
      case .documents(let documents): try get(documents, in: database, on: backend)
      }
    }
  }

  /// - Parameter what: only administrators do, in the plural.
  /// - Throws: `permission-denied` where there are rules.
  func checkIsAdmin(_ what: String, in database: DatabaseID) throws(RPCStatus) {
    if concerns(database) { throw Self.adminOnly(what) }
  }

  private static func adminOnly(_ what: String) -> RPCStatus {
    RPCStatus(.permissionDenied, "\(what) require admin authentication.")
  }

  private static func allowance(for documents: Int) -> Int {
    documents > 1 ? RulesLimits.accessesInAll : RulesLimits.accesses
  }

  private func request(
    _ method: RulesRequest.Method, _ path: ResourcePath, in database: DatabaseID, at time: Timestamp
  ) throws(RPCStatus) -> RulesRequest {
    try rules.check(user, for: database)
    return RulesRequest(method: method, database: database, path: path, user: user, time: time)
  }

  private func decide(_ request: RulesRequest, _ source: DocumentSource) throws(RPCStatus) -> RulesVerdict {
    let verdict = try rules.decide(request, source.documents)
    if let failure = source.failure { throw failure }
    guard let verdict, !verdict.isAllowed else { return verdict ?? RulesVerdict(isAllowed: true) }
    throw rules.denial(verdict)
  }
}

extension CommitPreview.Entry {
  /// A deletion of what is not there counts as a deletion all the same.
  fileprivate var method: RulesRequest.Method {
    if isVerification { return .get }
    if case nil = after { return .delete }
    if case nil = before { return .create }
    return .update
  }
}

/// Documents that rules look at, each read once for a request.
private final class DocumentSource {
  typealias Read = (DocumentKey) throws(RPCStatus) -> Document?

  private let stored: Read
  private let after: Read
  private var known: [DocumentKey: Document?] = [:]
  /// Why a document could not be read: then no verdict counts.
  private(set) var failure: RPCStatus?

  init(stored: @escaping Read, after: Read? = nil) {
    self.stored = stored
    self.after = after ?? stored
  }

  convenience init(_ stored: @escaping Read) { self.init(stored: stored) }

  var documents: RulesDocuments {
    RulesDocuments(
      stored: { key in
        if let document = self.known[key] { return document }
        let document = self.attempt(self.stored, key)
        self.known[key] = .some(document)
        return document
      },
      after: { key in self.attempt(self.after, key) })
  }

  private func attempt(_ read: Read, _ key: DocumentKey) -> Document? {
    do throws(RPCStatus) { return try read(key) } catch {
      failure = error
      return nil
    }
  }
}
