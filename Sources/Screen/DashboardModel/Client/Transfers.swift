// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState

/// The import or export that is under way, or else what the last one came to: there is one at a time.
package enum Transfers: Sendable {
  case none
  case running(TransferState)
  case ended(TransferAccount)

  package var running: TransferState? { if case .running(let state) = self { state } else { nil } }
  package var last: TransferAccount? { if case .ended(let account) = self { account } else { nil } }
}
