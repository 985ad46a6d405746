// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import Synchronization

/// Prints a message if Ctrl-C or another signal ends a command whose partial results remain. The message says how far
/// the command got and how to continue. The signal then has its usual effect.
package final class InterruptionNote: Sendable {
  private static let queue = DispatchQueue(label: "hearth.interruption")

  /// The count of finished documents.
  private let count = Count()
  /// The sources of the signals. They are active while they are retained.
  private let sources = Mutex<[any DispatchSourceSignal]>([])

  /// - Parameter text: creates the message from the number of finished documents.
  package init(_ text: @escaping @Sendable (Int) -> String) {
    sources.withLock { sources in
      for number in [SIGINT, SIGTERM, SIGHUP] {
        if let source = Self.source(number, count, text) { sources.append(source) }
      }
    }
  }

  deinit { end() }

  /// - Parameter count: the number of finished documents.
  package func note(_ count: Int) { self.count.value.withLock { $0 = count } }

  /// Restores the previous effect of the signals when the command is done.
  package func end() {
    sources.withLock { sources in
      for source in sources {
        let number = Int32(truncatingIfNeeded: source.handle)
        source.cancel()
        signal(number, SIG_DFL)
      }
      sources = []
    }
  }

  private final class Count: Sendable {
    let value = Mutex(0)
  }

  /// - Returns: `nil` if the parent process has already set how the signal is handled.
  private static func source(
    _ number: Int32, _ count: Count, _ text: @escaping @Sendable (Int) -> String
  ) -> sending (any DispatchSourceSignal)? {
    var action = sigaction()
    guard sigaction(number, nil, &action) == 0, action.__sigaction_handler.sa_handler == nil else { return nil }
    signal(number, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
    source.setEventHandler {
      if isatty(STDERR_FILENO) == 1 { StandardError.put("\r\u{1b}[K") }
      StandardError.write("hearth: interrupted. \(text(count.value.withLock { $0 }))")
      signal(number, SIG_DFL)
      // The queue's threads block signals, but this thread must receive the signal that it raises.
      var ending = sigset_t()
      sigemptyset(&ending)
      sigaddset(&ending, number)
      pthread_sigmask(SIG_UNBLOCK, &ending, nil)
      raise(number)
    }
    source.activate()
    return source
  }
}
