// SPDX-License-Identifier: Apache-2.0

/// The source of an app's user, for servers with security rules (`request.auth` in them). Given to `FirestoreApp`; a
/// program tells a ``UserSession`` who has signed in.
///
/// Every user has a separate queue of writes: writes that one user made offline wait while another is signed in, and
/// are never sent in the other's name.
public protocol CredentialsProvider: AnyObject, Sendable {
  /// The id of the user who is signed in; `nil` if no user is.
  var userID: String? { get }

  /// Registers a closure to be called with the new id at each change of `userID`, before the call that changes it
  /// returns: writes that a program makes after it has signed a user in are that user's.
  /// - Returns: a closure that ends the registration.
  func onUserChange(_ changed: @escaping @Sendable (String?) -> Void) -> @Sendable () -> Void

  /// Returns a token of Firebase Authentication for the user who is signed in. Called for each call to the server.
  /// - Parameter forcingRefresh: whether the last token was refused, so that a new one is needed.
  /// - Returns: the token; `nil` if no user is signed in.
  /// - Throws: the reason why there is no token now; the call fails with `unavailable`, and streams try again.
  func token(forcingRefresh: Bool) async throws -> String?
}

/// Proves that calls come from the app itself (Firebase App Check). Given to `FirestoreApp`.
public protocol AppCheckProvider: AnyObject, Sendable {
  /// Returns a token. Called for each call to the server.
  /// - Parameter forcingRefresh: whether the last token was refused, so that a new one is needed.
  /// - Throws: the reason why there is no token now; the call fails with `unavailable`, and streams try again.
  func token(forcingRefresh: Bool) async throws -> String
}
