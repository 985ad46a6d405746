// SPDX-License-Identifier: Apache-2.0
import Dispatch
package import FirestoreSharing
import Glibc
import Synchronization

/// The events that end a command without an end of its own: a signal, or the loss of its output's reader.
package final class Interruptions {
  package enum Cause: Hashable, Sendable {
    case signal(Int32)
    case readerGone
  }

  package let causes: AsyncStream<Cause>
  private let continuation: AsyncStream<Cause>.Continuation?
  private let signals: [any DispatchSourceSignal]

  /// Passes on what others find to be this command's.
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

  /// Hears the signals and the output of the process. From then on the process outlives the first SIGINT, SIGTERM or SIGHUP,
  /// and ends with the second: the command may be writing into a pipe that has no reader at work.
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
    // A signal that came before its source hears of it would end the process as if nothing were to be done first.
    isHeard.wait()
    watchOutput(continuation)
    return Interruptions(causes, continuation, signals)
  }

  deinit {
    for source in signals { source.cancel() }
    continuation?.finish()
  }

  /// Waits for the loss of the output's reader on a thread, until the process ends: a pipe's writing end then has an
  /// error, a file never.
  private static func watchOutput(_ continuation: AsyncStream<Cause>.Continuation) {
    DispatchQueue(label: "hearth.output").async {
      var state = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
      while poll(&state, 1, -1) < 0, errno == EINTR {}
      continuation.yield(.readerGone)
    }
  }
}

/// The signals that have come.
private final class Arrivals: Sendable {
  private let count = Atomic(0)

  /// Counts one more, and tells whether it is the first.
  func isFirst() -> Bool { count.wrappingAdd(1, ordering: .relaxed).oldValue == 0 }
}

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
