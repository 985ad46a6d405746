// SPDX-License-Identifier: Apache-2.0
import Dispatch
import FirestoreSharing
import Glibc
import Synchronization

/// Ctrl-Z on a command. A stopped process answers nobody: others can have the data before it stops.
enum JobControl {
  private struct State {
    var data: [Weak] = []
    var hasBegun = false
    /// Hears the signal as long as it is held.
    var source: (any DispatchSourceSignal)?
  }

  private struct Weak { weak var data: SharedData? }

  private static let state = Mutex(State())

  /// From now on SIGTSTP stops this process when it has let go of the data, as long as that is in use here.
  static func letsGo(of shared: SharedData) {
    state.withLock { state in
      state.data.removeAll { $0.data == nil || $0.data === shared }
      state.data.append(Weak(data: shared))
      if state.hasBegun { return }
      state.hasBegun = true
      state.source = source()
    }
  }

  /// - Returns: `nil` where whoever started this process decided what the signal does.
  private static func source() -> sending (any DispatchSourceSignal)? {
    var action = sigaction()
    guard sigaction(SIGTSTP, nil, &action) == 0, action.__sigaction_handler.sa_handler == nil else { return nil }
    signal(SIGTSTP, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: SIGTSTP, queue: DispatchQueue(label: "hearth.stop"))
    source.setEventHandler { stop() }
    source.activate()
    return source
  }

  /// On a thread of its own, which waits.
  private static func stop() {
    let data = state.withLock { $0.data.compactMap(\.data) }
    let isFree = DispatchSemaphore(value: 0)
    Task {
      for data in data { await data.handOver() }
      isFree.signal()
    }
    isFree.wait()
    // By the default action, which does nothing where no shell could continue this process; on this thread, so that it
    // goes no further before.
    var heard = sigaction()
    sigaction(SIGTSTP, nil, &heard)
    signal(SIGTSTP, SIG_DFL)
    var (stop, before) = (sigset_t(), sigset_t())
    sigemptyset(&stop)
    sigaddset(&stop, SIGTSTP)
    pthread_sigmask(SIG_UNBLOCK, &stop, &before)
    raise(SIGTSTP)
    pthread_sigmask(SIG_SETMASK, &before, nil)
    // The source hears the next one by the handler that it had put there.
    sigaction(SIGTSTP, &heard, nil)
    for data in data { data.takeUp() }
  }
}
