// SPDX-License-Identifier: Apache-2.0
import Dispatch
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
