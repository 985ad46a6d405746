// SPDX-License-Identifier: Apache-2.0

/// Who uses an app, for servers with security rules: `request.auth` in them. Given to `FirestoreApp`; ``UserSession`` is
/// one that a program tells who has signed in.
///
/// Every user has a queue of writes of their own: what one wrote offline waits while another is signed in, and is never
/// sent in another's name. Listeners see the pending writes of the user who is signed in.
public protocol CredentialsProvider: AnyObject, Sendable {
  /// The id of the user who is signed in; `nil` for nobody.
  var userID: String? { get }

  /// Has something called with the new id at each change of `userID`, before whoever changed it goes on: what a program
  /// writes after it has signed a user in is that user's.
  /// - Returns: what ends that when it is called.
  func onUserChange(_ changed: @escaping @Sendable (String?) -> Void) -> @Sendable () -> Void

  /// A token of Firebase Authentication for the user who is signed in, which is asked for with each call.
  /// - Parameter forcingRefresh: the last one was refused.
  /// - Returns: `nil` for nobody.
  /// - Throws: why there is none now; the call fails with `unavailable`, and streams try again.
  func token(forcingRefresh: Bool) async throws -> String?
}

/// Proves that calls come from the app itself (Firebase App Check). Given to `FirestoreApp`.
public protocol AppCheckProvider: AnyObject, Sendable {
  /// A token, which is asked for with each call.
  /// - Parameter forcingRefresh: the last one was refused.
  /// - Throws: why there is none now; the call fails with `unavailable`, and streams try again.
  func token(forcingRefresh: Bool) async throws -> String
}
