// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// Why the client is not online.
package enum ConnectionReason: Hashable, Sendable {
  /// No listener needs a connection, and nothing waits to be sent.
  case idle
  /// The first answer is still awaited.
  case connecting
  case networkDisabled
  /// The cache cannot be written, so nothing may arrive that would have to be stored.
  case storageFailed
  /// The last failure of a stream.
  case failed(RPCStatus)
  /// The backend did not answer within ten seconds.
  case noAnswer
}

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
