// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

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
