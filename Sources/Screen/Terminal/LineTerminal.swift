// SPDX-License-Identifier: Apache-2.0
import CNcurses
import CTerminalRestore
import Dispatch
import Glibc
package import TerminalCanvas

/// A terminal for line editing. Commands write to it normally between the edited lines. Keys arrive one by one only
/// while a line is edited.
package final class LineTerminal {
  /// An event for a line editor.
  package enum Event: Sendable {
    case input(InputEvent)
    case resized
    /// The process was stopped and has been continued.
    case continued
    /// The terminal no longer exists, so no more keys follow.
    case ended
  }

  private let input: CInt
  private let output: CInt
  private let savedModes: termios
  private let wakeUp: CInt
  private var parser = InputParser()
  private var isEditing = false

  /// The time in milliseconds during which a lone ESC can still start a sequence.
  private static let escapePatience: CInt = 25

  /// - Parameters:
  ///   - input: a terminal.
  ///   - output: the same terminal. The caller keeps ownership of both.
  ///   - wakeUp: the reading end of a pipe. The byte 1 means that the size has changed, and 2 means that the process
  ///     was continued.
  /// - Returns: `nil` if the input has no modes to set.
  package init?(input: CInt, output: CInt, wakeUp: CInt) {
    var modes = termios()
    guard tcgetattr(input, &modes) == 0 else { return nil }
    (self.input, self.output, self.wakeUp, savedModes) = (input, output, wakeUp, modes)
  }

  deinit { endEditing() }

  /// The size in cells; 80×24 if the terminal does not report it.
  package var size: Size {
    var (columns, rows): (CInt, CInt) = (0, 0)
    guard cn_window_size(output, &columns, &rows) == 0, columns > 0, rows > 0 else {
      return Size(width: 80, height: 24)
    }
    return Size(width: Int(columns), height: Int(rows))
  }

  /// Turns off echo and line buffering, and turns on bracketed paste. A crash restores the terminal.
  package func beginEditing() {
    if isEditing { return }
    isEditing = true
    var modes = savedModes
    modes.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG | IEXTEN)
    modes.c_iflag &= ~tcflag_t(ICRNL | INLCR | IGNCR | IXON | ISTRIP)
    withUnsafeMutableBytes(of: &modes.c_cc) { bytes in
      bytes[Int(VMIN)] = 1
      bytes[Int(VTIME)] = 0
    }
    var saved = savedModes
    let end = Self.pasteEnd
    end.withCString { ctr_arm(output, $0, end.utf8.count, &saved) }
    JobSignals.heard { _ = tcsetattr(input, TCSANOW, &modes) }
    write(bytes: Array(Self.pasteStart.utf8))
  }

  /// Restores the terminal's modes. Keys that the user has already typed remain for the next reader.
  package func endEditing() {
    if !isEditing { return }
    isEditing = false
    write(bytes: Array(Self.pasteEnd.utf8))
    var modes = savedModes
    tcsetattr(input, TCSANOW, &modes)
    ctr_disarm()
  }

  private static let pasteStart = "\u{1B}[?2004h"
  private static let pasteEnd = "\u{1B}[?2004l"

  /// Writes the bytes unchanged. The caller ensures that they are safe for a terminal.
  package func write(bytes: [UInt8]) {
    var done = 0
    while done < bytes.count {
      let count = bytes[done...].withUnsafeBytes { Glibc.write(output, $0.baseAddress, $0.count) }
      if count > 0 { done += count } else if errno != EINTR { return }
    }
  }

  /// Blocks the thread until there are events, and returns them.
  package func wait() -> [Event] {
    while true {
      var sources = [
        pollfd(fd: input, events: Int16(POLLIN), revents: 0), pollfd(fd: wakeUp, events: Int16(POLLIN), revents: 0),
      ]
      let count = poll(&sources, 2, parser.needsFlush ? Self.escapePatience : -1)
      if count == 0 { return parser.flush().map(Event.input) }
      if count < 0 {
        if errno == EINTR { continue }
        return [.ended]
      }
      if sources[1].revents != 0 {
        var byte: UInt8 = 0
        if read(wakeUp, &byte, 1) == 1 { return [byte == 1 ? .resized : .continued] }
      }
      guard sources[0].revents != 0 else { continue }
      var bytes = [UInt8](repeating: 0, count: 4096)
      let length = JobSignals.heard { read(input, &bytes, bytes.count) }
      if length < 0, errno == EINTR || errno == EAGAIN { continue }
      guard length > 0 else { return [.ended] }
      let events = parser.feed(bytes[..<length])
      if !events.isEmpty { return events.map(Event.input) }
    }
  }
}

/// Reports signals on a separate thread instead of performing their default actions.
package enum SignalWatch {
  /// - Parameter told: called with the number of each signal.
  package static func begin(_ signals: [CInt], _ told: @escaping @Sendable (CInt) -> Void) {
    var pipe: CInt = -1
    for signal in signals { pipe = ctr_watch(signal) }
    let reading = pipe
    guard reading >= 0 else { return }
    // The loop runs until the process ends. A waiting thread costs nothing.
    DispatchQueue(label: "hearth.signals").async {
      while true {
        var source = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
        if poll(&source, 1, -1) < 0, errno != EINTR { return }
        var number: UInt8 = 0
        while read(reading, &number, 1) == 1 { told(CInt(number)) }
      }
    }
  }
}
