// SPDX-License-Identifier: Apache-2.0

/// What the listeners of one client want of a target, as it tells the others that share the cache.
package enum TargetInterest: Int64, Sendable {
  /// Only what the cache has: nobody listens at the backend for them, but nothing that they show is collected.
  case cache = 0
  /// The backend's result.
  case backend = 1
}
