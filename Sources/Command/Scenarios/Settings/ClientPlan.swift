// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The way in which a client of a scenario is opened, the first time and each time after.
struct ClientPlan: Sendable {
  /// `nil` for the client without a name.
  let name: String?
  /// The client whose cache it uses; its own name for a cache of its own.
  let owner: String?
  /// Whether other clients use the same cache.
  let isShared: Bool
  /// The number of times that it was killed: each life has a folder of its own, unless the cache is shared.
  var life = 0
  /// The bytes above which the cache is collected; `nil` for a cache that never is.
  var cacheSize: Int64?
  let user: Kept<String?>
  /// The time by which the client's clock is ahead.
  let clock = Kept(Duration.zero)

  init(_ name: String?, sharing owner: String? = nil, isShared: Bool, user: String?) {
    (self.name, self.owner, self.isShared) = (name, owner ?? name, isShared)
    self.user = Kept(user)
  }
}

/// A value that outlives the openings of a client.
final class Kept<Value: Sendable>: Sendable {
  private let state: Mutex<Value>

  init(_ value: Value) { state = Mutex(value) }

  var value: Value {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }
}
