// SPDX-License-Identifier: Apache-2.0
package import FirestoreBackend
package import FirestoreModel
package import FirestoreProtocol
package import FirestoreQuery

/// The access rules of a service. A service without rules treats every caller as an administrator.
package protocol AccessPolicy: Sendable {
  /// Whether rules are active. If not, all callers have all permissions.
  var isActive: Bool { get }

  /// Registers a callback for each change of the rules.
  func onChange(_ body: @escaping @Sendable () -> Void)

  /// Determines the permissions of a caller.
  /// - Parameter authorization: the text of the `authorization` header; `nil` if the caller is not signed in.
  /// - Returns: `nil` for an administrator.
  /// - Throws: `invalid-argument` or `unauthenticated` for an invalid or unaccepted token.
  func permissions(of authorization: String?) throws(RPCStatus) -> (any CallerPermissions)?
}

/// Caches the caller of a connection's last call, so that the next call with the same token need not parse it again.
package struct LastCaller: Sendable {
  let authorization: String
  let permissions: any CallerPermissions
}

/// The permissions of the caller of a call. They are checked in the same backend step as the caller's operation.
package protocol CallerPermissions: Sendable {
  /// - Throws: `unauthenticated` once the caller's token has expired, even during a stream.
  func checkTime() throws(RPCStatus)

  /// The seconds until the caller's token expires; `nil` if it never expires.
  var timeLeft: Int64? { get }

  /// - Throws: `permission-denied` unless the caller may get all of these documents.
  /// - Returns: the other documents that affect the decision.
  @discardableResult
  func get(
    _ documents: [Document], in database: DatabaseID, on backend: isolated LocalBackend
  ) throws(RPCStatus) -> [DocumentKey]

  /// - Throws: `permission-denied` unless the rules prove that the caller may read every document that the query can
  ///   find.
  /// - Returns: the documents that affect the decision.
  @discardableResult
  func list(
    _ query: ServedQuery, _ explicitOrderBy: [OrderBy], in database: DatabaseID, on backend: isolated LocalBackend
  ) throws(RPCStatus) -> [DocumentKey]

  /// The check of a commit before it is applied.
  var commits: CommitCheck { get }

  /// The check of a pipeline's reads.
  func pipelines(in database: DatabaseID) -> PipelineCheck

  /// - Parameter what: the administrator-only operation, in the plural.
  /// - Throws: `permission-denied` if there are rules.
  func checkIsAdmin(_ what: String, in database: DatabaseID) throws(RPCStatus)

  /// The caller's permissions for one Listen stream.
  func listener(in database: DatabaseID) -> any ListenerPermissions
}

/// The permissions of the caller of a Listen stream. They are checked when a target is added, and again when the rules
/// or a document that affects the decision change.
package protocol ListenerPermissions: Sendable {
  /// - Throws: `unauthenticated` once the caller's token has expired.
  func checkTime() throws(RPCStatus)

  /// - Throws: `permission-denied` unless the caller may watch the target.
  mutating func add(
    _ id: TargetID, _ target: Target, others: [DocumentKey], _ orderBy: [OrderBy], on session: WatchSessionID,
    _ backend: isolated LocalBackend
  ) throws(RPCStatus)

  mutating func remove(_ id: TargetID, on session: WatchSessionID, _ backend: isolated LocalBackend)

  /// Ends the targets that may no longer be watched.
  mutating func review(on session: WatchSessionID, _ backend: isolated LocalBackend)

  /// Removes the contents of documents that left their targets from a delivery, unless the caller may read their
  /// current state.
  func withhold(from delivery: inout WatchDelivery, _ backend: isolated LocalBackend) throws(RPCStatus)
}
