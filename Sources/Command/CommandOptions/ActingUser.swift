// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FirestoreGRPC
import FirestoreJSON
import FirestoreModel

import class Hearth.UserSession

/// The app user as whom a command sends requests to a server with rules: `--as` and `--claims`.
package struct ActingUser: Hashable, Sendable {
  /// The uid; `nil` for a user who is not signed in.
  package let uid: String?
  /// The additional claims of the token, as the JSON text of an object.
  private let claims: String

  /// The value of `--as` for a user who is not signed in.
  static let none = "none"

  /// - Throws: `ValidationError` if the claims are not an object, or are given without a user.
  init?(_ name: String?, claims: String?) throws {
    guard let name else {
      if claims != nil { throw ValidationError("--claims needs a user. Add --as.") }
      return nil
    }
    if name.isEmpty { throw ValidationError("--as is empty. Use a uid, or none for a user who is not signed in.") }
    uid = name == Self.none ? nil : name
    self.claims = claims ?? "{}"
    guard claims != nil else { return }
    if uid == nil { throw ValidationError("--claims needs a token, and --as none has no token. Remove --claims.") }
    let json: JSONSyntax
    do throws(JSONError) { json = try JSONSyntax(parsing: self.claims) } catch {
      throw ValidationError("--claims, column \(error.column): \(error.reason)")
    }
    guard case .object = json.kind else { throw ValidationError("--claims must be a JSON object.") }
  }

  /// The credentials with an unsigned token, which emulators accept.
  var credentials: Credentials {
    let session = UserSession()
    // The initializer has checked that the claims are valid JSON.
    if let uid, let json = try? JSONSyntax(parsing: claims) {
      try? session.signIn(mockUser: uid, claims: Self.members(json))
    }
    let uid = uid
    return .user(
      UserAuthorization(user: uid, current: { uid }) { forcingRefresh throws(RPCStatus) in
        do { return try await session.token(forcingRefresh: forcingRefresh) } catch {
          throw RPCStatus(.unauthenticated, "Cannot create a token for \(uid ?? Self.none): \(error).")
        }
      })
  }

  private static func members(_ json: JSONSyntax) -> [String: any Sendable] {
    guard case .object(let members) = json.kind else { return [:] }
    return members.reduce(into: [:]) { $0[$1.name] = value($1.value) }
  }

  /// - Returns: `nil` for null, which is not a valid claim.
  private static func value(_ json: JSONSyntax) -> (any Sendable)? {
    switch json.kind {
    case .null: nil
    case .boolean(let value): value
    case .integer(let value): value
    case .double(let value): value
    case .string(let value): value
    case .array(let elements): elements.compactMap(value)
    case .object: members(json)
    }
  }
}
