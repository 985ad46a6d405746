// SPDX-License-Identifier: Apache-2.0
package import FirestoreBackend
package import FirestoreModel
package import FirestoreProtocol
package import FirestoreQuery

/// The rules to which a service holds its callers. A service without any takes every caller for an administrator.
package protocol AccessPolicy: Sendable {
  /// Whether there are rules now, so that it matters who calls.
  var isActive: Bool { get }

  /// Has something called after each change of the rules.
  func onChange(_ body: @escaping @Sendable () -> Void)

  /// Finds out what a caller may do.
  /// - Parameter authorization: the header's text; `nil` for none, as of a caller who is not signed in.
  /// - Returns: `nil` for an administrator.
  /// - Throws: `invalid-argument` or `unauthenticated` for a token that is none, or is not good here.
  func permissions(of authorization: String?) throws(RPCStatus) -> (any CallerPermissions)?
}

/// The caller of the last call on a connection, whose token is not read again for the next one.
package struct LastCaller: Sendable {
  let authorization: String
  let permissions: any CallerPermissions
}

/// The permissions of the caller of a call. They are asked in the step of the backend that does what the caller wants.
package protocol CallerPermissions: Sendable {
  /// - Throws: `unauthenticated` once the caller's token has expired, which a stream may outlive.
  func checkTime() throws(RPCStatus)

  /// Seconds until the caller's token expires; `nil` without an end.
  var timeLeft: Int64? { get }

  /// - Throws: `permission-denied` unless the caller may get all of these documents.
  /// - Returns: the documents on which the decision depends, besides these.
  @discardableResult
  func get(
    _ documents: [Document], in database: DatabaseID, on backend: isolated LocalBackend
  ) throws(RPCStatus) -> [DocumentKey]

  /// - Throws: `permission-denied` unless it is certain that the caller may read every document that the query can find.
  /// - Returns: the documents on which that depends.
  @discardableResult
  func list(
    _ query: ServedQuery, _ explicitOrderBy: [OrderBy], in database: DatabaseID, on backend: isolated LocalBackend
  ) throws(RPCStatus) -> [DocumentKey]

  /// The check before a commit happens.
  var commits: CommitCheck { get }

  /// The check before a pipeline reads.
  func pipelines(in database: DatabaseID) -> PipelineCheck

  /// - Parameter what: the thing that only administrators do, in the plural.
  /// - Throws: `permission-denied` where there are rules.
  func checkIsAdmin(_ what: String, in database: DatabaseID) throws(RPCStatus)

  /// The caller's permissions for one Listen stream.
  func listener(in database: DatabaseID) -> any ListenerPermissions
}

/// The permissions of the caller of a Listen stream: asked when a target is added, and again when rules or a document
/// change on which they depend.
package protocol ListenerPermissions: Sendable {
  /// - Throws: `unauthenticated` once the caller's token has expired.
  func checkTime() throws(RPCStatus)

  /// - Throws: `permission-denied` unless the caller may watch the target.
  mutating func add(
    _ id: TargetID, _ target: Target, others: [DocumentKey], _ orderBy: [OrderBy], on session: WatchSessionID,
    _ backend: isolated LocalBackend
  ) throws(RPCStatus)

  mutating func remove(_ id: TargetID, on session: WatchSessionID, _ backend: isolated LocalBackend)

  /// Ends the targets that may not be watched any longer.
  mutating func review(on session: WatchSessionID, _ backend: isolated LocalBackend)

  /// Takes the contents of documents that left their targets out of what is about to be sent, unless the caller may get
  /// them as they are now.
  func withhold(from delivery: inout WatchDelivery, _ backend: isolated LocalBackend) throws(RPCStatus)
}
