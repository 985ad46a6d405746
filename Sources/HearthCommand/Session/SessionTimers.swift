// SPDX-License-Identifier: Apache-2.0
import Dispatch
import FirestoreModel
import Glibc

/// Draws at most thirty frames a second, and none unless asked: everything that happens in one turn shares a frame.
@MainActor
final class FramePacer {
  private static let interval: UInt64 = 33_000_000

  private var lastFrame: UInt64 = 0
  private var isWaiting = false

  /// Calls `draw` once, soon; requests until then are the same one.
  func request(_ draw: @escaping @MainActor () -> Void) {
    guard !isWaiting else { return }
    isWaiting = true
    let now = DispatchTime.now().uptimeNanoseconds
    let due = max(now, lastFrame &+ Self.interval)
    DispatchQueue.main.asyncAfter(deadline: DispatchTime(uptimeNanoseconds: due)) { [weak self] in
      MainActor.assumeIsolated {
        guard let self else { return }
        self.isWaiting = false
        self.lastFrame = DispatchTime.now().uptimeNanoseconds
        draw()
      }
    }
  }
}

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

/// Ends the process if its client does not end by itself: a user who quits gets the shell back, whatever a server, a
/// disk or a connection does. Nothing is lost, because what was accepted is on the disk before it is shown (S10).
struct ExitDeadline {
  private static let patience = DispatchTimeInterval.seconds(5)

  private let timer: any DispatchSourceTimer

  /// Begins to wait; not on the main queue, which may be what does not go on.
  init(status: Int32) {
    timer = DispatchSource.makeTimerSource(queue: .global())
    timer.schedule(deadline: .now() + Self.patience)
    timer.setEventHandler {
      StandardError.write("hearth: the client did not end in time and was left behind; what was written is kept.")
      _exit(status)
    }
    timer.activate()
  }

  func cancel() { timer.cancel() }
}
