// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
import FirestoreModel
import FirestoreSQLite

/// An error inside the client, with the form that its callers get.
protocol ClientFailure: Error {
  var status: RPCStatus { get }
}

extension RPCStatus: ClientFailure {
  var status: RPCStatus { self }
}

extension StoreError: ClientFailure {
  var status: RPCStatus { RPCStatus(code, message) }
}

extension RPCStatus {
  static let terminated = RPCStatus(.failedPrecondition, "The client has already been terminated.")
}
