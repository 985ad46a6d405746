// SPDX-License-Identifier: Apache-2.0
package import ByteCompression
import Glibc

/// The output of a command: standard output or a file. Buffered; one task writes.
///
/// Text for people is `ShownText`, the same everywhere. Text for programs is data (`data`), whose bytes a file or a
/// pipe gets unchanged; on a terminal, unsafe characters in it become JSON escapes.
package final class OutputFile {
  /// The reader of standard output is gone: nothing more can be written, and that is no error.
  package struct ClosedPipe: Error {
    package init() {}
  }

  private static let bufferSize = 64 * 1024

  private let descriptor: Int32
  private let name: String
  private let isTerminal: Bool
  private let isStandard: Bool
  private let compressor: Compressor?
  private var buffer: [UInt8] = []

  package static func standard() -> OutputFile { OutputFile(STDOUT_FILENO, "standard output", isStandard: true) }

  /// - Parameter compression: the format of the output; `nil` for none.
  package static func standard(_ compression: CompressionFormat?) throws(CommandFailure) -> OutputFile {
    OutputFile(
      STDOUT_FILENO, "standard output", isStandard: true, try compressor(compression, of: "standard output"))
  }

  /// Writes to a program that shows its input on the terminal. Its end counts as the end of standard output's reader.
  package convenience init(pager descriptor: Int32) {
    self.init(descriptor, "the pager", isStandard: true, isTerminal: true)
  }

  /// Writes a whole text to standard output.
  package static func print(_ text: ShownText) throws {
    let output = standard()
    try output.write(text)
    try output.flush()
  }

  /// Writes data to standard output.
  package static func print(data: String) throws {
    let output = standard()
    try output.data(data)
    try output.flush()
  }

  /// - Parameter descriptor: closed by the caller.
  package convenience init(_ descriptor: Int32, _ name: String) { self.init(descriptor, name, isStandard: false) }

  /// - Parameter descriptor: closed by the caller.
  package convenience init(_ descriptor: Int32, _ name: String, _ compression: CompressionFormat?)
    throws(CommandFailure)
  {
    self.init(descriptor, name, isStandard: false, try Self.compressor(compression, of: name))
  }

  private init(
    _ descriptor: Int32, _ name: String, isStandard: Bool, _ compressor: Compressor? = nil, isTerminal: Bool? = nil
  ) {
    self.compressor = compressor
    self.descriptor = descriptor
    self.name = name
    self.isStandard = isStandard
    self.isTerminal = isTerminal ?? (isatty(descriptor) == 1)
  }

  package func write(_ text: ShownText) throws {
    buffer.append(contentsOf: text.text.utf8)
    if buffer.count >= Self.bufferSize { try flush() }
  }

  /// Writes a line and its end.
  package func line(_ text: ShownText) throws {
    try write(text)
    buffer.append(UInt8(ascii: "\n"))
  }

  /// Writes text for programs: documents, JSON, rows of values, the contents of a file.
  package func data(_ text: String) throws { try write(isTerminal ? ShownText(json: text) : ShownText(verbatim: text)) }

  /// Writes a line of data and its end.
  package func data(line: String) throws {
    try data(line)
    buffer.append(UInt8(ascii: "\n"))
  }

  package func flush() throws {
    guard let compressor else {
      try put(buffer)
      return buffer.removeAll(keepingCapacity: true)
    }
    if buffer.isEmpty { return }
    let compressed: [UInt8]
    do throws(CompressionError) { compressed = try compressor.compress(buffer) } catch { throw failure(error.reason) }
    buffer.removeAll(keepingCapacity: true)
    try put(compressed)
  }

  /// Writes all buffered output, with the end of compressed data: nothing can be written behind it.
  package func finish() throws {
    try flush()
    guard let compressor else { return }
    let end: [UInt8]
    do throws(CompressionError) { end = try compressor.compress([], isLast: true) } catch {
      throw failure(error.reason)
    }
    try put(end)
  }

  private func put(_ bytes: [UInt8]) throws {
    var done = 0
    while done < bytes.count {
      let count = bytes[done...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 {
        done += count
      } else if errno == EAGAIN {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&waiting, 1, -1)
      } else if errno == EPIPE, isStandard {
        throw ClosedPipe()
      } else if errno != EINTR {
        throw failure(Self.reason(errno))
      }
    }
  }

  private func failure(_ reason: String) -> CommandFailure {
    CommandFailure(.inputOutput, "\(name) cannot be written: \(reason).")
  }

  private static func compressor(
    _ format: CompressionFormat?, of name: String
  ) throws(CommandFailure) -> Compressor? {
    guard let format else { return nil }
    do throws(CompressionError) { return try Compressor(format) } catch {
      throw CommandFailure(.failure, "\(name) cannot be written: \(error.reason).")
    }
  }

  private static func reason(_ code: Int32) -> String {
    switch code {
    case EBADF: "it is closed"
    case EPIPE: "its reader is gone"
    default: String(cString: strerror(code))
    }
  }
}
