// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreRules
import FirestoreService

/// The permissions of a call's caller according to the rules. Each decision is made in the backend step that performs
/// the call.
struct CallAccess: CallerPermissions {
  let rules: AccessRules
  let user: RulesUser?
  /// The expiry of the caller's token, in seconds since 1970; `nil` without a token.
  let expiry: Int64?

  /// - Throws: `unauthenticated` once the caller's token has expired. A stream may last longer than the token.
  func checkTime() throws(RPCStatus) { try rules.checkTime(expiry) }

  var timeLeft: Int64? { rules.timeLeft(until: expiry) }

  func listener(in database: DatabaseID) -> any ListenerPermissions { ListenAccess(self, in: database) }

  /// Whether a database has rules.
  func concerns(_ database: DatabaseID) -> Bool { rules.concern(database) }

  /// - Throws: `permission-denied` unless the caller may read all of these documents.
  /// - Returns: the other documents that affect the decision.
  @discardableResult
  func get(
    _ documents: [Document], in database: DatabaseID, on backend: isolated LocalBackend
  ) throws(RPCStatus) -> [DocumentKey] {
    guard concerns(database) else { return [] }
    var (read, allowance) = ([DocumentKey](), Self.allowance(for: documents.count))
    let source = DocumentSource(
      .stored { key throws(RPCStatus) in try backend.lookedUp(key, in: database) }, backend.lookedUpState)
    try rules.check(user, for: database)
    let time = backend.time
    for document in documents {
      let verdict = try decide(
        RulesRequest(
          method: .get, database: database, path: document.key.path, user: user, time: time,
          resource: document.exists ? document : nil, accessAllowance: min(RulesLimits.accesses, allowance)), source)
      if read.isEmpty {
        read = verdict.read
      } else {
        for key in verdict.read where !read.contains(key) { read.append(key) }
      }
      allowance -= min(allowance, verdict.accesses)
    }
    return read
  }

  /// - Throws: `permission-denied` unless the rules prove that the caller may read every result of the query.
  /// - Returns: the documents that affect the decision.
  @discardableResult
  func list(
    _ query: ServedQuery, _ explicitOrderBy: [OrderBy], in database: DatabaseID,
    on backend: isolated LocalBackend
  ) throws(RPCStatus) -> [DocumentKey] {
    guard concerns(database) else { return [] }
    if query.scope != .target { throw Self.adminOnly("Queries of all collections") }
    try rules.check(user, for: database)
    let request = RulesRequest(
      method: .list, database: database, path: query.target.path, user: user, time: backend.time,
      query: RulesQuery(target: query.target, offset: query.offset, explicitOrderBy: explicitOrderBy))
    let source = DocumentSource(
      .stored { key throws(RPCStatus) in try backend.lookedUp(key, in: database) }, backend.lookedUpState)
    return try decide(request, source).read
  }

  /// The check before a commit.
  var commits: CommitCheck {
    { preview throws(RPCStatus) in
      guard concerns(preview.database) else { return }
      var allowance = Self.allowance(for: preview.keys.count)
      let source = DocumentSource(.commit(preview), nil)
      try rules.check(user, for: preview.database)
      for key in preview.keys {
        guard let entry = preview.entry(key) else { continue }
        let method = entry.method
        let verdict = try decide(
          RulesRequest(
            method: method, database: preview.database, path: key.path, user: user, time: preview.time,
            resource: entry.before, newResource: method.hasResult ? entry.after : nil,
            mutations: entry.mutations, accessAllowance: min(RulesLimits.accesses, allowance)), source)
        allowance -= min(allowance, verdict.accesses)
      }
    }
  }

  /// The check before a pipeline reads. The pipeline's first conditions are treated like the filters of a query.
  func pipelines(in database: DatabaseID) -> PipelineCheck {
    { read, backend throws(RPCStatus) in
      switch read {
      case .query(let query): try list(query, [], in: database, on: backend)
      case .documents(let documents): try get(documents, in: database, on: backend)
      }
    }
  }

  /// - Parameter what: the operations that require an administrator, in the plural.
  /// - Throws: `permission-denied` if there are rules.
  func checkIsAdmin(_ what: String, in database: DatabaseID) throws(RPCStatus) {
    if concerns(database) { throw Self.adminOnly(what) }
  }

  private static func adminOnly(_ what: String) -> RPCStatus {
    RPCStatus(.permissionDenied, "\(what) require admin authentication.")
  }

  private static func allowance(for documents: Int) -> Int {
    documents > 1 ? RulesLimits.accessesInAll : RulesLimits.accesses
  }

  private func decide(_ request: consuming RulesRequest, _ source: DocumentSource) throws(RPCStatus) -> RulesVerdict {
    let verdict = try rules.decide(SharedRequest(request), source)
    if let failure = source.failure { throw failure }
    guard let verdict, !verdict.isAllowed else { return verdict ?? RulesVerdict(isAllowed: true) }
    throw rules.denial(verdict)
  }
}

extension CommitPreview.Entry {
  /// The method for the rules. As in the emulator, the precondition of the first write decides. The precondition
  /// `exists: false` makes the request a create, and any other precondition makes it an update, even if the stored
  /// state differs. Without a precondition, the stored state decides. Deleting a missing document is a delete.
  fileprivate var method: RulesRequest.Method {
    if isVerification { return .get }
    if case nil = after { return .delete }
    switch mutations.first?.precondition {
    case .exists(false): return .create
    case .exists(true), .updateTime: return .update
    case .none?, nil: if case nil = before { return .create } else { return .update }
    }
  }
}

/// The documents that the rules read. For each request, a document is read and counted once.
private final class DocumentSource: RulesDocuments {
  enum Origin {
    case stored((DocumentKey) throws(RPCStatus) -> Document?)
    case commit(CommitPreview)
  }

  private let origin: Origin
  private struct Look {
    let key: DocumentKey
    var stored: Document?
    /// Whether the stored document was read, rather than only its state after the write.
    var isRead = false
  }

  /// The documents that were read so far. They are few (`RulesLimits.accessesInAll`), so no dictionary is needed.
  private var looks: [Look] = []
  /// The error that occurred when a document was read. It makes the verdict invalid.
  private(set) var failure: RPCStatus?

  private let known: (any RulesDocumentState)?
  /// - Returns: `nil` after a document could not be read.
  var state: (any RulesDocumentState)? { failure == nil ? known : nil }

  init(_ origin: Origin, _ state: (any RulesDocumentState)?) { (self.origin, known) = (origin, state) }

  func stored(_ key: DocumentKey) -> Document? {
    let place = looks.firstIndex { $0.key == key }
    if let place, looks[place].isRead { return looks[place].stored }
    let document = attempt(isAfter: false, key)
    let look = Look(key: key, stored: document, isRead: true)
    if let place { looks[place] = look } else { looks.append(look) }
    return document
  }

  func after(_ key: DocumentKey) -> Document? {
    note(key)
    return attempt(isAfter: true, key)
  }

  func wasLookedAt(_ key: DocumentKey) -> Bool { looks.contains { $0.key == key } }

  func note(_ key: DocumentKey) { if !wasLookedAt(key) { looks.append(Look(key: key)) } }

  private func attempt(isAfter: Bool, _ key: DocumentKey) -> Document? {
    do throws(RPCStatus) {
      switch origin {
      case .stored(let read): return try read(key)
      case .commit(let preview): return try isAfter ? preview.after(key) : preview.stored(key)
      }
    } catch {
      failure = error
      return nil
    }
  }
}
