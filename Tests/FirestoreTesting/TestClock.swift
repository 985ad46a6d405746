// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import Synchronization

/// Time of day that stands still until a test moves it, also backwards, but for a tick whenever it is asked for.
package final class TestClock: Sendable {
  private let microseconds: Mutex<Int64>
  private let tick: Int64

  /// - Parameters:
  ///   - start: The time in microseconds since 1970.
  ///   - tick: The microseconds by which every question moves the time, before it is answered.
  package init(_ start: Int64 = 1_000_000_000, tick: Int64 = 0) {
    microseconds = Mutex(start)
    self.tick = tick
  }

  package convenience init(seconds: Int64) { self.init(seconds * 1_000_000) }

  package func now() -> Timestamp {
    microseconds.withLock { time in
      time += tick
      return Timestamp(microseconds: time)
    }
  }

  package func set(_ microseconds: Int64) { self.microseconds.withLock { $0 = microseconds } }
  package func set(seconds: Int64) { set(seconds * 1_000_000) }
  package func advance(_ microseconds: Int64) { self.microseconds.withLock { $0 += microseconds } }
  package func advance(seconds: Int64) { advance(seconds * 1_000_000) }
}
