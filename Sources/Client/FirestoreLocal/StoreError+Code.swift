// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreSQLite

extension StoreError.Kind {
  /// The Firestore code under which a user of the cache sees an error of this kind.
  package var code: StatusCode {
    switch self {
    case .locked, .newerSchema, .foreign, .leaseLost: .failedPrecondition
    case .notWritable, .notPrivate: .unimplemented
    case .corrupt, .gone: .dataLoss
    case .diskFull: .resourceExhausted
    case .refused(let code): code
    case .injected, .uncertain: .unavailable
    case .sqlite: .internal
    }
  }
}

extension StoreError {
  /// The Firestore code under which a user of the cache sees this error.
  package var code: StatusCode { kind.code }

  static func damaged(_ what: String) -> StoreError { StoreError(.corrupt, "The cache is damaged: \(what).") }
}
