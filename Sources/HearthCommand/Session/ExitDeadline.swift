// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc

/// Ends the process if its client does not end by itself: whoever quits gets the shell back, whatever a server, a disk
/// or a connection does. Nothing is lost, because what was accepted is on the disk before it is shown (S10).
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
