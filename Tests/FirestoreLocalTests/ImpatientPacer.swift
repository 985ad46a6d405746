// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
import Synchronization

extension SlicePacer {
  /// By a clock that goes on by `step` whenever somebody looks at it.
  static func impatient(step: Duration) -> SlicePacer {
    let clock = Clock()
    return SlicePacer {
      clock.time.withLock { time in
        time += step
        return time
      }
    }
  }

  private final class Clock: Sendable {
    let time = Mutex(Duration.zero)
  }
}
