// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
import Synchronization

/// The cache with which a client of a stage is opened.
public enum TestCache: Sendable {
  /// A cache of its own.
  case own
  /// A cache of its own that other clients may open, as with `PersistentTabManager.multiple`.
  case shared
  /// The cache of another client, which was opened as `shared`, or with such a cache.
  case of(TestClient)
}

/// A cache as a client has it open.
struct OpenedCache: Sendable {
  /// The client that was the first to open it.
  var owner: String
  /// The number of times that a client on a cache of its own was killed.
  var life = 0
  /// The clients that share it; `nil` for a client on a cache of its own.
  var company: SharedCompany?
}

/// The lead of a client's clock.
final class TestClock: Sendable {
  private let state = Mutex(Duration.zero)

  var lead: Duration {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }
}
