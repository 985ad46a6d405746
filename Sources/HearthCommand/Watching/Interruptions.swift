// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc

/// What ends a command that would run for ever: a signal, or a reader of its output that goes away.
final class Interruptions {
  enum Cause: Hashable, Sendable {
    case signal(Int32)
    case readerGone
  }

  let causes: AsyncStream<Cause>
  private let continuation: AsyncStream<Cause>.Continuation
  private var signals: [any DispatchSourceSignal] = []

  /// From now on SIGINT, SIGTERM and SIGHUP do not end the process by themselves.
  init() {
    (causes, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    for number in [SIGINT, SIGTERM, SIGHUP] {
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { [continuation] in continuation.yield(.signal(number)) }
      source.activate()
      signals.append(source)
    }
    watchOutput()
  }

  deinit {
    for source in signals { source.cancel() }
    continuation.finish()
  }

  /// A pipe's writing end has an error when nobody can read any more; a file never has one. One thread waits for it
  /// until the process ends.
  private func watchOutput() {
    DispatchQueue(label: "hearth.output").async { [continuation] in
      var state = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
      while poll(&state, 1, -1) < 0, errno == EINTR {}
      continuation.yield(.readerGone)
    }
  }
}
