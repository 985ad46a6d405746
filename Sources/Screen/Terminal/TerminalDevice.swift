// SPDX-License-Identifier: Apache-2.0
import CNcurses
import CTerminalRestore
import Glibc
import TerminalCanvas

/// The terminal as a device: its modes, its size, and its output.
@MainActor final class TerminalDevice {
  let descriptor: CInt
  private let savedModes: termios
  private(set) var isGone = false

  /// The maximum time that a write waits for a slow or unresponsive terminal. If a frame is lost after this time, the
  /// screen is repainted later.
  private static let writePatience = Duration.seconds(2)

  /// Opens the controlling terminal instead of standard input and output, so that these can be pipes.
  init() throws(TerminalError) {
    let flags = O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC
    var descriptor = open("/dev/tty", flags)
    if descriptor < 0, isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1, let name = ttyname(STDIN_FILENO) {
      descriptor = open(name, flags)
    }
    guard descriptor >= 0 else {
      throw TerminalError(.notATerminal, "no terminal to draw on: run hearth in a terminal")
    }
    var modes = termios()
    guard tcgetattr(descriptor, &modes) == 0 else {
      Glibc.close(descriptor)
      throw TerminalError(.notATerminal, "the terminal's modes cannot be set: run hearth in a terminal")
    }
    self.descriptor = descriptor
    savedModes = modes
  }

  /// The size in cells; 80×24 if the terminal does not report it.
  var size: Size {
    var columns: CInt = 0
    var rows: CInt = 0
    guard cn_window_size(descriptor, &columns, &rows) == 0, columns > 0, rows > 0 else {
      return Size(width: 80, height: 24)
    }
    return Size(width: Int(columns), height: Int(rows))
  }

  /// Whether the other end of the terminal was closed.
  var isHungUp: Bool {
    var poll = pollfd(fd: descriptor, events: 0, revents: 0)
    return Glibc.poll(&poll, 1, 0) == 1 && poll.revents & Int16(POLLHUP) != 0
  }

  /// Whether another process group of the session, such as the shell, owns the terminal.
  private var isOfOtherJob: Bool {
    let group = tcgetpgrp(descriptor)
    return group > 0 && group != getpgrp()
  }

  /// Reads and drops input until the expected event arrives or the time is over.
  func dropInput(for time: Duration, until isAwaited: (InputEvent) -> Bool) {
    var parser = InputParser()
    var bytes = [UInt8](repeating: 0, count: 4096)
    let deadline = ContinuousClock.now + time
    while !isGone {
      let left = (deadline - ContinuousClock.now) / .milliseconds(1)
      var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard left > 0, Glibc.poll(&poll, 1, CInt(left.rounded(.up))) == 1 else { return }
      let count = read(descriptor, &bytes, bytes.count)
      guard count > 0 else { return }
      if parser.feed(bytes[..<count]).contains(where: isAwaited) { return }
    }
  }

  /// Puts the terminal into raw mode: bytes arrive one by one and without echo, and input and output are unchanged. A
  /// crash restores the modes.
  func enterRawMode(restoringWith text: String) {
    var modes = savedModes
    cfmakeraw(&modes)
    // A background process correctly stops here until it is in the foreground again. TCSANOW does not wait for earlier
    // output to be drawn: a terminal with unread output never draws it.
    JobSignals.heard { _ = tcsetattr(descriptor, TCSANOW, &modes) }
    var saved = savedModes
    text.withCString { ctr_arm(descriptor, $0, text.utf8.count, &saved) }
  }

  /// Restores the original modes. Drops unread input, because it contains only replies and mouse reports.
  func leaveRawMode() {
    ctr_disarm()
    var modes = savedModes
    // Two calls, because TCSAFLUSH would also wait for output to drain, which never happens if a terminal's output is
    // not read.
    if !isGone { tcflush(descriptor, TCIFLUSH) }
    tcsetattr(descriptor, TCSANOW, &modes)
  }

  /// Records that the terminal no longer exists. After this call nothing is written to it, and it is not restored on
  /// exit.
  func markGone() {
    isGone = true
    ctr_disarm()
  }

  /// Sends bytes with one `write`, waiting a bounded time for a slow terminal.
  ///
  /// - Parameter isFrame: whether to drop the rest if another job owns the terminal by then. This happens if the
  ///   process was stopped and continued in the background.
  /// - Returns: whether all bytes were written.
  @discardableResult
  func write(_ bytes: [UInt8], isFrame: Bool = false) -> Bool {
    var rest = bytes[...]
    let deadline = ContinuousClock.now + Self.writePatience
    while !rest.isEmpty, !isGone {
      if isFrame, isOfOtherJob { return false }
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        let left = (deadline - ContinuousClock.now) / .milliseconds(1)
        if left <= 0 || Glibc.poll(&poll, 1, CInt(left.rounded(.up))) == 0 { return false }
      } else if errno != EINTR {
        markGone()
      }
    }
    return rest.isEmpty
  }
}

/// The reason why the screen cannot be opened, as one line that also suggests what to do instead.
package struct TerminalError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Code: Hashable, Sendable { case notATerminal, unknownTerminal, unusableTerminal, system }

  package var code: Code
  package var message: String

  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  package var description: String { message }
}

/// The signals that stop a job when it uses a terminal that the shell owns. The kernel sends them if the job was
/// stopped and then continued in the background.
enum JobSignals {
  /// Runs terminal calls with the job signals unblocked, as in a single-threaded process. If the process is in the
  /// background, it stops, and the calls are made when it owns the terminal again.
  ///
  /// The threads of dispatch queues block these signals. On such a thread, the calls would change the modes of the
  /// shell's terminal, and reads would fail as if the terminal no longer existed.
  static func heard<Result>(_ body: () -> Result) -> Result {
    var (signals, before) = (sigset_t(), sigset_t())
    sigemptyset(&signals)
    sigaddset(&signals, SIGTTIN)
    sigaddset(&signals, SIGTTOU)
    pthread_sigmask(SIG_UNBLOCK, &signals, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    return body()
  }
}
