// SPDX-License-Identifier: Apache-2.0

/// The interest of one client's listeners in a target, as it is announced to the clients that share the cache.
package enum TargetInterest: Int64, Sendable {
  /// Documents from the cache alone: no client listens at the backend for these listeners, but no document they show is
  /// collected.
  case cache = 0
  /// The backend's result.
  case backend = 1
}
