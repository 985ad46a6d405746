// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// The domain of a `FirestoreError` that is looked at as an `NSError`.
public let FirestoreErrorDomain = "FIRFirestoreErrorDomain"

extension FirestoreError: CustomNSError {
  /// `FirestoreErrorDomain`
  public static var errorDomain: String { FirestoreErrorDomain }
  /// The number of the code.
  public var errorCode: Int { code.rawValue }
  /// The message, as `NSLocalizedDescriptionKey`.
  public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: message] }
}

#if !canImport(ObjectiveC)
  // Any error can be cast to `NSError` on Apple platforms. Without Objective-C only `error as NSError` can, and a cast
  // that may fail, such as that of `catch let error as NSError`, never succeeds, unless the type implements the cast.
  extension FirestoreError: _ObjectiveCBridgeable {
    /// Lets `catch let error as NSError` catch the error; called by casts.
    public func _bridgeToObjectiveC() -> NSError {
      NSError(domain: FirestoreErrorDomain, code: errorCode, userInfo: errorUserInfo)
    }

    /// Makes the error of an `NSError` with Firestore's domain and one of its codes; called by casts.
    /// - Returns: whether the `NSError` has that domain and such a code.
    public static func _conditionallyBridgeFromObjectiveC(_ source: NSError, result: inout FirestoreError?) -> Bool {
      guard source.domain == FirestoreErrorDomain, let code = Code(rawValue: source.code) else { return false }
      result = FirestoreError(code, source.localizedDescription)
      return true
    }

    /// Makes the error of any `NSError`; one of another domain or code becomes `unknown`. Called by casts that must
    /// succeed.
    public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout FirestoreError?) {
      if !_conditionallyBridgeFromObjectiveC(source, result: &result) {
        result = FirestoreError(.unknown, source.localizedDescription)
      }
    }

    /// Does the same as `_forceBridgeFromObjectiveC(_:result:)`, also without an `NSError`; called by casts.
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> FirestoreError {
      var error: FirestoreError?
      if let source { _forceBridgeFromObjectiveC(source, result: &error) }
      return error ?? FirestoreError(.unknown, "There is no error.")
    }
  }
#endif
