// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel

extension SyncCore {
  /// `nil` while online.
  var connectionReason: ConnectionReason? {
    if online.state == .online { return nil }
    if !isNetworkEnabled { return .networkDisabled }
    if offlineCauses.contains(.storageFailed) { return .storageFailed }
    if let error = watchStream.lastError ?? writeStream.lastError { return .failed(error) }
    if online.state == .offline { return .noAnswer }
    return watchStream.isStarted || writeStream.isStarted ? .connecting : .idle
  }
}
