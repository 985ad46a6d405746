// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
public import Foundation

/// The reason why a Firestore call failed: one of the codes of Cloud Firestore and a message that names the thing and
/// the way out.
///
/// Calls that throw in the official SDK throw this. A wrong argument (an empty document path, a limit of zero), for
/// which the SDK stops the process, never does so here: the reference, query or batch remembers the mistake, and the
/// first call that can report it does, through its listener, completion or thrown error, with `invalidArgument` or
/// `failedPrecondition`.
///
/// Caught as in the SDK: `catch FirestoreErrorCode.notFound`, `catch let error as FirestoreErrorCode` with its `code`,
/// or `catch let error as NSError where error.domain == FirestoreErrorDomain`.
public struct FirestoreError: Error, Hashable, Sendable {
  /// The reason, for programs.
  public let code: Code
  /// The reason, for people: the thing concerned and the way out.
  public let message: String

  /// Makes an error like those of Hearth, for tests and for code that wraps calls.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  package init(_ status: RPCStatus) {
    self.init(Code(status.code), status.message)
  }

  init(_ error: ModelError) {
    self.init(Code(error.code), error.message)
  }

  static func invalidArgument(_ message: String) -> FirestoreError { FirestoreError(.invalidArgument, message) }
  static let terminated = failedPrecondition("The client has already been terminated.")
  static func failedPrecondition(_ message: String) -> FirestoreError { FirestoreError(.failedPrecondition, message) }
}

extension RPCStatus {
  init(_ error: FirestoreError) {
    self.init(StatusCode(rawValue: error.code.rawValue) ?? .unknown, error.message)
  }
}

extension FirestoreError: CustomStringConvertible, LocalizedError {
  /// The code's name and the message: `not-found: The document cities/SF does not exist.`
  public var description: String { "\(code.name): \(message)" }
  /// The message.
  public var errorDescription: String? { message }
}
