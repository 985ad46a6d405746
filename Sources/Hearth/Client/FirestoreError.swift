// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
public import Foundation

/// Why a Firestore call failed: one of the codes of Cloud Firestore and a message that names the thing and the way out.
///
/// Calls that throw in the official SDK throw this. Where the SDK stops the process because of a wrong argument
/// (an empty document path, a limit of zero), Hearth never does: the reference, query or batch remembers the mistake,
/// and the first call that can report it does, through its listener, completion or thrown error, with
/// `invalidArgument` or `failedPrecondition`.
public struct FirestoreError: Error, Hashable, Sendable {
  /// Why, for programs.
  public let code: FirestoreErrorCode
  /// Why, for people: the thing and the way out.
  public let message: String

  /// An error as Hearth throws it, for tests and for code that wraps calls.
  public init(_ code: FirestoreErrorCode, _ message: String) {
    self.code = code
    self.message = message
  }

  package init(_ status: RPCStatus) {
    self.init(FirestoreErrorCode(status.code), status.message)
  }

  init(_ error: ModelError) {
    self.init(FirestoreErrorCode(error.code), error.message)
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
  public var description: String { "\(code.name): \(message)" }
  public var errorDescription: String? { message }
}

extension FirestoreError: CustomNSError {
  public static var errorDomain: String { FirestoreErrorDomain }
  public var errorCode: Int { code.rawValue }
  public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: message] }
}

/// The domain of a `FirestoreError` that is looked at as an `NSError`.
public let FirestoreErrorDomain = "FIRFirestoreErrorDomain"

/// The canonical codes, numbered as in gRPC and in the official SDK.
public enum FirestoreErrorCode: Int, Hashable, Sendable, CaseIterable {
  /// The SDK's spelling where a code is made from an `NSError`.
  public typealias Code = FirestoreErrorCode

  /// Numbers and meaning: <https://grpc.io/docs/guides/status-codes>.
  case OK = 0
  /// As `OK`: the first half of the codes.
  case cancelled, unknown, invalidArgument, deadlineExceeded, notFound, alreadyExists, permissionDenied
  /// As `OK`: the second half of the codes.
  case resourceExhausted, failedPrecondition, aborted, outOfRange, unimplemented, `internal`, unavailable, dataLoss
  /// The call has no valid credentials.
  case unauthenticated

  package init(_ code: StatusCode) {
    self = FirestoreErrorCode(rawValue: code.rawValue) ?? .unknown
  }

  /// As the documentation spells it: `permission-denied`.
  public var name: String { (StatusCode(rawValue: rawValue) ?? .unknown).name }
}
