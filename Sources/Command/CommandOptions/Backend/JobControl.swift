// SPDX-License-Identifier: Apache-2.0
import Dispatch
package import FirestoreSharing
import Glibc
import Synchronization

/// Handles Ctrl-Z for a command: a stopped process answers no request, so that it lets go of shared data before it
/// stops.
package enum JobControl {
  private struct State {
    var data: [Weak] = []
    var hasBegun = false
    /// The source of the signal, active as long as it is held.
    var source: (any DispatchSourceSignal)?
  }

  private struct Weak { weak var data: SharedData? }

  private static let state = Mutex(State())

  /// Makes SIGTSTP stop this process only after it has let go of the data, as long as the data is in use here.
  package static func letsGo(of shared: SharedData) {
    state.withLock { state in
      state.data.removeAll { $0.data == nil || $0.data === shared }
      state.data.append(Weak(data: shared))
      if state.hasBegun { return }
      state.hasBegun = true
      state.source = source()
    }
  }

  /// - Returns: `nil` where the parent process has set what the signal does.
  private static func source() -> sending (any DispatchSourceSignal)? {
    var action = sigaction()
    guard sigaction(SIGTSTP, nil, &action) == 0, action.__sigaction_handler.sa_handler == nil else { return nil }
    signal(SIGTSTP, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: SIGTSTP, queue: DispatchQueue(label: "hearth.stop"))
    source.setEventHandler { stop() }
    source.activate()
    return source
  }

  /// Lets go of the data and stops the process. Runs on a thread of its own, because it blocks.
  private static func stop() {
    let data = state.withLock { $0.data.compactMap(\.data) }
    let isFree = DispatchSemaphore(value: 0)
    Task {
      for data in data { await data.handOver() }
      isFree.signal()
    }
    isFree.wait()
    // The default action stops the process, or does nothing where no shell could continue it. Raised on this thread, so
    // that no code below runs before the stop.
    var heard = sigaction()
    sigaction(SIGTSTP, nil, &heard)
    signal(SIGTSTP, SIG_DFL)
    var (stop, before) = (sigset_t(), sigset_t())
    sigemptyset(&stop)
    sigaddset(&stop, SIGTSTP)
    pthread_sigmask(SIG_UNBLOCK, &stop, &before)
    raise(SIGTSTP)
    pthread_sigmask(SIG_SETMASK, &before, nil)
    // The source hears the next signal by its own handler, which is put back here.
    sigaction(SIGTSTP, &heard, nil)
    for data in data { data.takeUp() }
  }
}
