// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// A client's connection as a whole, as it is at one moment.
package struct ConnectionState: Codable, Hashable, Sendable {
  package var online: OnlineState
  /// The time since which it is so.
  package var since: Timestamp
  /// The reason why the client is not online; `nil` while it is.
  package var reason: ConnectionReason?
  /// The time of the next attempt to connect or to write the cache; `nil` unless one is being waited for.
  package var nextAttempt: Timestamp?

  package init(
    _ online: OnlineState, since: Timestamp, reason: ConnectionReason? = nil, nextAttempt: Timestamp? = nil
  ) {
    self.online = online
    self.since = since
    self.reason = reason
    self.nextAttempt = nextAttempt
  }
}
