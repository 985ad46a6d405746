// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
public import Foundation

/// The reason why a Firestore call failed: Cloud Firestore's error code, and a message with the cause and the remedy.
///
/// Calls that throw in the official SDK throw this error. If an argument is invalid, such as an empty document path or
/// a limit of zero, the SDK stops the process. Hearth instead stores the error (`invalidArgument` or
/// `failedPrecondition`) in the reference, query or batch. The first call that has a listener or a completion, or that
/// throws, reports the error.
///
/// Catch the error as in the SDK: `catch FirestoreErrorCode.notFound`, `catch let error as FirestoreErrorCode` with its
/// `code`, or `catch let error as NSError where error.domain == FirestoreErrorDomain`.
public struct FirestoreError: Error, Hashable, Sendable {
  /// The machine-readable reason.
  public let code: Code
  /// The human-readable reason: the cause and the remedy.
  public let message: String

  /// Creates an error, for tests and for code that wraps Hearth's calls.
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
  /// The code's name and the message, such as `not-found: The document cities/SF does not exist.`
  public var description: String { "\(code.name): \(message)" }
  /// The message.
  public var errorDescription: String? { message }
}

/// The SDK's name for `FirestoreError`, used for codes and in `catch` clauses.
///
/// Each code itself is a `FirestoreErrorCode.Code`, as in the SDK: `FirestoreErrorCode.notFound`.
public typealias FirestoreErrorCode = FirestoreError

extension FirestoreError {
  /// The canonical codes, numbered as in gRPC and in the official SDK (<https://grpc.io/docs/guides/status-codes>).
  public enum Code: Int, Hashable, Sendable, CaseIterable {
    /// No error.
    case OK = 0
    /// The caller canceled the call, or the write was canceled.
    case cancelled
    /// The error has no specific code.
    case unknown
    /// An argument is invalid, regardless of the database's state.
    case invalidArgument
    /// The time limit was exceeded. The operation may still have been performed.
    case deadlineExceeded
    /// The document does not exist.
    case notFound
    /// The document already exists.
    case alreadyExists
    /// The caller lacks permission.
    case permissionDenied
    /// A quota or the disk is exhausted.
    case resourceExhausted
    /// The state of the client or the database does not allow the operation.
    case failedPrecondition
    /// Other clients wrote at the same time. The operation may be repeated.
    case aborted
    /// A value is outside its range.
    case outOfRange
    /// The operation is not supported here.
    case unimplemented
    /// The backend violated one of its invariants.
    case `internal`
    /// The backend is currently unreachable.
    case unavailable
    /// Data was lost or is damaged.
    case dataLoss
    /// The call has no valid credentials.
    case unauthenticated

    package init(_ code: StatusCode) {
      self = Code(rawValue: code.rawValue) ?? .unknown
    }

    /// The code's name as in the documentation, such as `permission-denied`.
    public var name: String { (StatusCode(rawValue: rawValue) ?? .unknown).name }
  }
}

// The codes by the name of the error, as in the SDK: `FirestoreErrorCode.notFound`.
extension FirestoreError {
  /// `Code.OK`
  public static var OK: Code { .OK }
  /// `Code.cancelled`
  public static var cancelled: Code { .cancelled }
  /// `Code.unknown`
  public static var unknown: Code { .unknown }
  /// `Code.invalidArgument`
  public static var invalidArgument: Code { .invalidArgument }
  /// `Code.deadlineExceeded`
  public static var deadlineExceeded: Code { .deadlineExceeded }
  /// `Code.notFound`
  public static var notFound: Code { .notFound }
  /// `Code.alreadyExists`
  public static var alreadyExists: Code { .alreadyExists }
  /// `Code.permissionDenied`
  public static var permissionDenied: Code { .permissionDenied }
  /// `Code.resourceExhausted`
  public static var resourceExhausted: Code { .resourceExhausted }
  /// `Code.failedPrecondition`
  public static var failedPrecondition: Code { .failedPrecondition }
  /// `Code.aborted`
  public static var aborted: Code { .aborted }
  /// `Code.outOfRange`
  public static var outOfRange: Code { .outOfRange }
  /// `Code.unimplemented`
  public static var unimplemented: Code { .unimplemented }
  /// `Code.internal`
  public static var `internal`: Code { .internal }
  /// `Code.unavailable`
  public static var unavailable: Code { .unavailable }
  /// `Code.dataLoss`
  public static var dataLoss: Code { .dataLoss }
  /// `Code.unauthenticated`
  public static var unauthenticated: Code { .unauthenticated }
}

/// Whether an error is a `FirestoreError` with this code: `catch FirestoreErrorCode.notFound`.
public func ~= (code: FirestoreError.Code, error: any Error) -> Bool { (error as? FirestoreError)?.code == code }

/// The domain of a `FirestoreError` that was converted to an `NSError`.
public let FirestoreErrorDomain = "FIRFirestoreErrorDomain"

extension FirestoreError: CustomNSError {
  /// `FirestoreErrorDomain`
  public static var errorDomain: String { FirestoreErrorDomain }
  /// The number of the code.
  public var errorCode: Int { code.rawValue }
  /// A dictionary that contains the message under the key `NSLocalizedDescriptionKey`.
  public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: message] }
}

#if !canImport(ObjectiveC)
  // Any error can be cast to `NSError` on Apple platforms. Without Objective-C only `error as NSError` works. A
  // conditional cast, such as in `catch let error as NSError`, only succeeds if the type implements the following
  // methods.
  extension FirestoreError: _ObjectiveCBridgeable {
    /// Lets `catch let error as NSError` catch a `FirestoreError`. Swift's casts call this function.
    public func _bridgeToObjectiveC() -> NSError {
      NSError(domain: FirestoreErrorDomain, code: errorCode, userInfo: errorUserInfo)
    }

    /// Converts an `NSError` that has Firestore's domain and one of its codes. Swift's casts call this function.
    /// - Returns: whether the `NSError` has Firestore's domain and one of its codes.
    public static func _conditionallyBridgeFromObjectiveC(_ source: NSError, result: inout FirestoreError?) -> Bool {
      guard source.domain == FirestoreErrorDomain, let code = Code(rawValue: source.code) else { return false }
      result = FirestoreError(code, source.localizedDescription)
      return true
    }

    /// Converts any `NSError`. If the domain or code is not Firestore's, the code becomes `unknown`. Swift's forced
    /// casts call this function.
    public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout FirestoreError?) {
      if !_conditionallyBridgeFromObjectiveC(source, result: &result) {
        result = FirestoreError(.unknown, source.localizedDescription)
      }
    }

    /// Like `_forceBridgeFromObjectiveC(_:result:)`, but also accepts `nil`. Swift's casts call this function.
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> FirestoreError {
      var error: FirestoreError?
      if let source { _forceBridgeFromObjectiveC(source, result: &error) }
      return error ?? FirestoreError(.unknown, "There is no error.")
    }
  }
#endif
