// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreSQLite

extension StoreError {
  static func refused(_ code: StatusCode, _ message: String) -> StoreError { StoreError(.refused(code), message) }

  /// The status that a client receives for the error.
  package var status: RPCStatus {
    let code: StatusCode =
      switch kind {
      case .locked, .notWritable, .notPrivate, .newerSchema, .foreign, .leaseLost: .failedPrecondition
      case .corrupt: .dataLoss
      // Clients keep their pending writes and send them again; a write that was stored is not applied twice.
      case .gone, .uncertain: .unavailable
      case .diskFull: .resourceExhausted
      case .refused(let code): code
      case .injected: .unavailable
      case .sqlite: .internal
      }
    return RPCStatus(code, message)
  }
}
