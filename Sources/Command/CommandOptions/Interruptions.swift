// SPDX-License-Identifier: Apache-2.0
import Dispatch
package import FirestoreSharing
import Glibc
import Synchronization

/// The events that interrupt a command that would otherwise run forever: a signal, or a closed output pipe.
package final class Interruptions {
  package enum Cause: Hashable, Sendable {
    case signal(Int32)
    case readerGone
  }

  package let causes: AsyncStream<Cause>
  private let continuation: AsyncStream<Cause>.Continuation?
  private let signals: [any DispatchSourceSignal]

  /// Creates interruptions from events that the caller observes.
  package init(_ causes: AsyncStream<Cause>) {
    self.causes = causes
    continuation = nil
    signals = []
  }

  private init(
    _ causes: AsyncStream<Cause>, _ continuation: AsyncStream<Cause>.Continuation, _ signals: [any DispatchSourceSignal]
  ) {
    (self.causes, self.continuation, self.signals) = (causes, continuation, signals)
  }

  /// Observes the signals and the output of the process. After this call, the first SIGINT, SIGTERM or SIGHUP does not
  /// end the process. The second signal ends it, because the command may be blocked on a pipe that is not being read.
  package static func ofProcess() -> Interruptions {
    let (causes, continuation) = AsyncStream.makeStream(of: Cause.self, bufferingPolicy: .bufferingNewest(1))
    let arrivals = Arrivals()
    let queue = DispatchQueue(label: "hearth.signals")
    let isHeard = DispatchGroup()
    let signals = [SIGINT, SIGTERM, SIGHUP].map { number in
      let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
      isHeard.enter()
      source.setRegistrationHandler { isHeard.leave() }
      source.setEventHandler {
        if arrivals.isFirst() {
          continuation.yield(.signal(number))
        } else {
          signal(number, SIG_DFL)
          kill(getpid(), number)
        }
      }
      source.activate()
      return source
    }
    // A signal that arrives before its source is active would end the process without cleanup.
    isHeard.wait()
    watchOutput(continuation)
    return Interruptions(causes, continuation, signals)
  }

  deinit {
    for source in signals { source.cancel() }
    continuation?.finish()
  }

  /// Waits on a separate thread until the reader of the output disconnects. `poll` then reports an error for the
  /// writing end of a pipe. For a file, this never happens.
  private static func watchOutput(_ continuation: AsyncStream<Cause>.Continuation) {
    DispatchQueue(label: "hearth.output").async {
      var state = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
      while poll(&state, 1, -1) < 0, errno == EINTR {}
      continuation.yield(.readerGone)
    }
  }
}

/// The count of received signals.
private final class Arrivals: Sendable {
  private let count = Atomic(0)

  /// Counts a signal, and returns whether it is the first.
  func isFirst() -> Bool { count.wrappingAdd(1, ordering: .relaxed).oldValue == 0 }
}

/// Handles Ctrl-Z for a command. A stopped process cannot respond to other processes, so it releases shared data before
/// it stops.
package enum JobControl {
  private struct State {
    var data: [Weak] = []
    var hasBegun = false
    /// The source of the signal. It is active while it is retained.
    var source: (any DispatchSourceSignal)?
  }

  private struct Weak { weak var data: SharedData? }

  private static let state = Mutex(State())

  /// Makes SIGTSTP stop the process only after the data was released. Applies while the process uses the data.
  package static func letsGo(of shared: SharedData) {
    state.withLock { state in
      state.data.removeAll { $0.data == nil || $0.data === shared }
      state.data.append(Weak(data: shared))
      if state.hasBegun { return }
      state.hasBegun = true
      state.source = source()
    }
  }

  /// - Returns: `nil` if the parent process has already set how the signal is handled.
  private static func source() -> sending (any DispatchSourceSignal)? {
    var action = sigaction()
    guard sigaction(SIGTSTP, nil, &action) == 0, action.__sigaction_handler.sa_handler == nil else { return nil }
    signal(SIGTSTP, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: SIGTSTP, queue: DispatchQueue(label: "hearth.stop"))
    source.setEventHandler { stop() }
    source.activate()
    return source
  }

  /// Releases the data and stops the process. Runs on a separate thread, because it blocks the thread.
  private static func stop() {
    let data = state.withLock { $0.data.compactMap(\.data) }
    let isFree = DispatchSemaphore(value: 0)
    Task {
      for data in data { await data.handOver() }
      isFree.signal()
    }
    isFree.wait()
    // The default action stops the process, or does nothing if no shell could continue it. The signal is raised on this
    // thread, so that no later code runs before the stop.
    var heard = sigaction()
    sigaction(SIGTSTP, nil, &heard)
    signal(SIGTSTP, SIG_DFL)
    var (stop, before) = (sigset_t(), sigset_t())
    sigemptyset(&stop)
    sigaddset(&stop, SIGTSTP)
    pthread_sigmask(SIG_UNBLOCK, &stop, &before)
    raise(SIGTSTP)
    pthread_sigmask(SIG_SETMASK, &before, nil)
    // The source's own handler is restored here for the next signal.
    sigaction(SIGTSTP, &heard, nil)
    for data in data { data.takeUp() }
  }
}
