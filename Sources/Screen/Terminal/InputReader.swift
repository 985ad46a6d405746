// SPDX-License-Identifier: Apache-2.0
import CTerminalRestore
import Dispatch
import Glibc
package import TerminalCanvas

/// An event from the terminal or the system.
package enum TerminalEvent: Hashable, Sendable {
  /// All available input in order. Apply all of it before you draw.
  case input([InputEvent])
  case signal(TerminalSignal)
}

/// Delivers keys, mouse events and signals on the main actor. It does not poll while it waits. A timer runs only while
/// a lone ESC could still start a sequence.
@MainActor package final class InputReader {
  private let descriptor: CInt
  private let escapeDelay: DispatchTimeInterval
  private let deliver: @MainActor (TerminalEvent) -> Void
  private var parser = InputParser()
  private var source: (any DispatchSourceRead)?
  private var signals: (any DispatchSourceRead)?
  private var flush: (any DispatchSourceTimer)?
  private var isPaused = false

  /// The maximum count of bytes per delivery. The next delivery contains the rest.
  private static let batch = 1 << 16

  /// - Parameters:
  ///   - descriptor: a non-blocking descriptor of the terminal (`Screen.inputDescriptor`).
  ///   - escapeMilliseconds: the time during which a lone ESC can still start a sequence.
  ///   - deliver: called once per batch of input and per signal.
  package init(
    descriptor: CInt, escapeMilliseconds: Int = 25, deliver: @escaping @MainActor (TerminalEvent) -> Void
  ) {
    self.descriptor = descriptor
    escapeDelay = .milliseconds(escapeMilliseconds)
    self.deliver = deliver
  }

  /// Starts delivering events. The signals that are delivered no longer end the process.
  package func start() {
    guard source == nil else { return }
    var pipe: CInt = -1
    for signal in TerminalSignal.watched { pipe = ctr_watch(signal) }
    if pipe >= 0 { signals = reading(pipe) { $0.readSignals(pipe) } }
    source = reading(descriptor) { $0.readInput() }
  }

  /// Stops delivering events. Signals have their default actions again.
  package func stop() {
    for signal in TerminalSignal.watched { ctr_unwatch(signal) }
    if isPaused { source?.resume() }
    isPaused = false
    [source, signals].forEach { $0?.cancel() }
    flush?.cancel()
    (source, signals, flush) = (nil, nil, nil)
  }

  /// Stops reading, so that another program receives the terminal's input. Signals are still delivered, except those
  /// that keys cause.
  func pause() {
    guard let source, !isPaused else { return }
    isPaused = true
    source.suspend()
    flush?.cancel()
    flush = nil
  }

  func resume() {
    guard let source, isPaused else { return }
    if let signals { readSignals(CInt(signals.handle)) }
    isPaused = false
    parser = InputParser()
    source.resume()
  }

  private func reading(
    _ descriptor: CInt, _ handler: @escaping @MainActor (InputReader) -> Void
  ) -> any DispatchSourceRead {
    // The source has a separate descriptor, which is open until the source is cancelled. If the owner closed a watched
    // descriptor while another process has the terminal open, the event loop would report a released source.
    let own = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    let source = DispatchSource.makeReadSource(fileDescriptor: own >= 0 ? own : descriptor, queue: .main)
    if own >= 0 { source.setCancelHandler { close(own) } }
    source.setEventHandler { [weak self] in
      MainActor.assumeIsolated {
        if let self { handler(self) }
      }
    }
    source.activate()
    return source
  }

  private func readSignals(_ pipe: CInt) {
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = read(pipe, &bytes, bytes.count)
    guard count > 0 else { return }
    var seen: [TerminalSignal] = []
    for signal in bytes[..<count].compactMap({ TerminalSignal(number: CInt($0)) }) where !seen.contains(signal) {
      seen.append(signal)
      if !(isPaused && signal.isFromKeyboard) { deliver(.signal(signal)) }
    }
  }

  private func readInput() {
    guard !isPaused else { return }
    var bytes = [UInt8](repeating: 0, count: Self.batch)
    let count = JobSignals.heard { read(descriptor, &bytes, bytes.count) }
    if count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR) {
      // End of input or EIO: the terminal is gone. The descriptor would remain readable forever.
      source?.cancel()
      source = nil
      return deliver(.signal(.hungUp))
    }
    guard count > 0 else { return }
    flush?.cancel()
    flush = nil
    let events = parser.feed(bytes[..<count])
    if parser.needsFlush { armFlush() }
    if !events.isEmpty { deliver(.input(events)) }
  }

  private func armFlush() {
    let timer = DispatchSource.makeTimerSource(queue: .main)
    timer.schedule(deadline: .now() + escapeDelay)
    timer.setEventHandler { [weak self] in
      MainActor.assumeIsolated {
        guard let self, !self.isPaused else { return }
        self.flush = nil
        let events = self.parser.flush()
        if !events.isEmpty { self.deliver(.input(events)) }
      }
    }
    timer.activate()
    flush = timer
  }
}

/// A signal about the program's terminal, or one that asks the program to end.
package enum TerminalSignal: Hashable, Sendable {
  /// SIGWINCH: the terminal's size has changed. Call `Screen.updateSize()`.
  case resized
  /// SIGTSTP from another process: suspend the program.
  case stopRequested
  /// SIGCONT: the program was continued. Call `Screen.resume()`.
  case continued
  /// SIGTERM, SIGINT or SIGQUIT: restore the terminal and exit with `exitCode`.
  case terminated(by: CInt)
  /// The terminal no longer exists: exit with `exitCode`, and do not write to the terminal.
  case hungUp

  /// 128 plus the signal's number, as shells report it; `nil` for signals that do not end the program.
  package var exitCode: CInt? {
    switch self {
    case .resized, .stopRequested, .continued: nil
    case .terminated(let signal): 128 + signal
    case .hungUp: 128 + SIGHUP
    }
  }

  init?(number: CInt) {
    switch number {
    case SIGWINCH: self = .resized
    case SIGTSTP: self = .stopRequested
    case SIGCONT: self = .continued
    case SIGHUP: self = .hungUp
    case SIGTERM, SIGINT, SIGQUIT: self = .terminated(by: number)
    default: return nil
    }
  }

  static let watched = [SIGWINCH, SIGTSTP, SIGCONT, SIGHUP, SIGTERM, SIGINT, SIGQUIT]

  /// Whether the terminal's driver sends the signal for a key. If so, a child program that owns the terminal receives
  /// the signal too.
  var isFromKeyboard: Bool {
    switch self {
    case .stopRequested, .terminated(by: SIGINT), .terminated(by: SIGQUIT): true
    default: false
    }
  }
}
