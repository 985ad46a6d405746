// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Where a command's data goes: standard output or a file. Buffered; one task writes.
final class OutputFile {
  /// The reader is gone: there is nobody to write for, and nothing is wrong.
  struct ClosedPipe: Error {}

  private static let bufferSize = 64 * 1024

  private let descriptor: Int32
  private let name: String
  private var buffer: [UInt8] = []

  /// Standard output. A reader that goes away becomes `ClosedPipe` instead of a signal.
  static func standard() -> OutputFile {
    signal(SIGPIPE, SIG_IGN)
    return OutputFile(STDOUT_FILENO, "standard output")
  }

  /// - Parameter descriptor: stays the caller's.
  init(_ descriptor: Int32, _ name: String) {
    self.descriptor = descriptor
    self.name = name
  }

  func write(_ text: String) throws {
    buffer.append(contentsOf: text.utf8)
    if buffer.count >= Self.bufferSize { try flush() }
  }

  /// Writes a line and its end.
  func line(_ text: String) throws {
    buffer.append(contentsOf: text.utf8)
    buffer.append(UInt8(ascii: "\n"))
    if buffer.count >= Self.bufferSize { try flush() }
  }

  func flush() throws {
    var done = 0
    while done < buffer.count {
      let count = buffer[done...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 {
        done += count
      } else if errno == EAGAIN {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&waiting, 1, -1)
      } else if errno == EPIPE {
        throw ClosedPipe()
      } else if errno != EINTR {
        throw CommandFailure(.inputOutput, "\(name) cannot be written: \(String(cString: strerror(errno))).")
      }
    }
    buffer.removeAll(keepingCapacity: true)
  }
}
