// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The SDK's name of `FirestoreError` where codes are named and errors are caught.
///
/// A code itself is a `FirestoreErrorCode.Code`, as in the SDK: `FirestoreErrorCode.notFound`.
public typealias FirestoreErrorCode = FirestoreError

extension FirestoreError {
  /// The canonical codes, numbered as in gRPC and in the official SDK (<https://grpc.io/docs/guides/status-codes>).
  public enum Code: Int, Hashable, Sendable, CaseIterable {
    /// No error.
    case OK = 0
    /// The call was ended by its caller, or its write was cancelled.
    case cancelled
    /// The error has no code of its own.
    case unknown
    /// An argument is wrong, whatever the state of the database.
    case invalidArgument
    /// Time ran out; the operation may have been done.
    case deadlineExceeded
    /// The document does not exist.
    case notFound
    /// The document exists already.
    case alreadyExists
    /// The caller may not do this.
    case permissionDenied
    /// A quota or the disk is used up.
    case resourceExhausted
    /// The state of the client or of the database does not allow this.
    case failedPrecondition
    /// Other clients wrote at the same time; the operation may be tried again.
    case aborted
    /// A value lies outside of its range.
    case outOfRange
    /// The operation is not supported here.
    case unimplemented
    /// The backend broke a rule of its own.
    case `internal`
    /// The backend cannot be reached at present.
    case unavailable
    /// Data was lost or is damaged.
    case dataLoss
    /// The call has no valid credentials.
    case unauthenticated

    package init(_ code: StatusCode) {
      self = Code(rawValue: code.rawValue) ?? .unknown
    }

    /// The code's name as the documentation spells it: `permission-denied`.
    public var name: String { (StatusCode(rawValue: rawValue) ?? .unknown).name }
  }
}

// The codes by the name of the error, as the SDK has them: `FirestoreErrorCode.notFound`.
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

/// Whether an error is Firestore's and has the code: `catch FirestoreErrorCode.notFound`.
public func ~= (code: FirestoreError.Code, error: any Error) -> Bool { (error as? FirestoreError)?.code == code }
