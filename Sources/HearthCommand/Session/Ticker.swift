// SPDX-License-Identifier: Apache-2.0
import Dispatch
import FirestoreModel

/// Wakes the dashboard at the moment that its state names, if there is something on screen that ages.
@MainActor
struct Ticker {
  private var timer: (any DispatchSourceTimer)?
  private var due: Timestamp?

  /// Replaces the earlier appointment; `nil` means none, and no CPU.
  mutating func schedule(at moment: Timestamp?, _ fire: @escaping @MainActor () -> Void) {
    guard moment != due else { return }
    timer?.cancel()
    timer = nil
    due = moment
    guard let moment else { return }
    let delay = max(0, moment.microseconds - Timestamp.now.microseconds)
    let timer = DispatchSource.makeTimerSource(queue: .main)
    timer.schedule(deadline: .now() + .microseconds(Int(min(delay, 86_400_000_000))))
    timer.setEventHandler { MainActor.assumeIsolated { fire() } }
    timer.activate()
    self.timer = timer
  }
}
