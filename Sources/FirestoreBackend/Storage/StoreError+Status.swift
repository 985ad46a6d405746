// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreSQLite

extension StoreError {
  static func refused(_ code: StatusCode, _ message: String) -> StoreError { StoreError(.refused(code), message) }

  /// What a client is told by the backend.
  package var status: RPCStatus {
    let code: StatusCode =
      switch kind {
      case .locked, .notWritable, .notPrivate, .newerSchema, .foreign, .leaseLost: .failedPrecondition
      case .corrupt: .dataLoss
      // Clients keep what they want to write, until there is data again.
      case .gone: .unavailable
      case .diskFull: .resourceExhausted
      case .refused(let code): code
      case .injected: .unavailable
      case .sqlite: .internal
      }
    return RPCStatus(code, message)
  }
}
