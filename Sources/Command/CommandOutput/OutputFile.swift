// SPDX-License-Identifier: Apache-2.0
package import ByteCompression
import FirestoreText
import Foundation
import Glibc

/// The output of a command: standard output or a file. The output is buffered. Only one task may write.
///
/// Text for people is `ShownText`, and its bytes are the same everywhere. Text for programs is written with `data`. In
/// a file or a pipe, its bytes are unchanged. On a terminal, its unsafe characters are replaced by JSON escapes.
package final class OutputFile {
  /// Thrown if the reader of standard output has disconnected, so that no more can be written. The command does not
  /// report this as an error.
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

  /// Creates an output that writes to a pager on the terminal. The end of the pager has the same effect as a closed
  /// pipe.
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

  /// Writes a line with a newline.
  package func line(_ text: ShownText) throws {
    try write(text)
    buffer.append(UInt8(ascii: "\n"))
  }

  /// Writes text for programs, such as documents, JSON, rows of values, or the contents of a file.
  package func data(_ text: String) throws { try write(isTerminal ? ShownText(json: text) : ShownText(verbatim: text)) }

  /// Writes a line of data with a newline.
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

  /// Writes all buffered output and completes compressed data. Nothing can be written after this call.
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
    case EPIPE: "its reader closed the pipe"
    default: String(cString: strerror(code))
    }
  }
}

/// The kind of thing that an output path refers to.
package enum OutputPlace: Hashable, Sendable {
  /// An open descriptor of this process: `/dev/stdout`, `/dev/fd/3`, or the path that a shell creates for `>(command)`.
  case descriptor(Int32)
  /// A device or a named pipe. It cannot be replaced like a file.
  case stream(String)
  /// A regular file, or a file that does not exist yet. Symbolic links are resolved, so this is the path of the file
  /// itself.
  case file(String)

  /// The maximum number of symbolic links to follow, as in the kernel.
  private static let linkLimit = 40

  /// - Throws: a failure that contains the path, if the path is a folder or a socket, or cannot be examined.
  package init(_ path: String) throws(CommandFailure) {
    func failure(_ reason: String) -> CommandFailure {
      CommandFailure(.cannotCreate, "\(path) cannot be written: \(reason).")
    }

    if path.isEmpty { throw CommandFailure(.usage, "the output name is empty.") }
    var name = path
    for _ in 0..<Self.linkLimit {
      if let descriptor = Self.descriptor(named: name) {
        self = .descriptor(descriptor)
        return
      }
      var status = stat()
      guard lstat(name, &status) == 0 else {
        guard errno == ENOENT, Self.split(name).name != "" else { throw failure(String(cString: strerror(errno))) }
        self = .file(name)
        return
      }
      guard status.st_mode & S_IFMT == S_IFLNK else {
        self = try Self.special(name, status, failure) ?? .file(name)
        return
      }
      let target = try Self.target(of: name, failure)
      // The kernel's links to open files of other processes work even if their text is not a path.
      if lstat(target, &status) != 0, stat(name, &status) == 0 {
        self = try Self.special(name, status, failure) ?? .stream(name)
        return
      }
      name = target
    }
    throw failure(String(cString: strerror(ELOOP)))
  }

  /// Whether a descriptor refers to a regular file.
  package static func isFile(_ descriptor: Int32) -> Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  /// Splits a path into the folder and the file name.
  package static func split(_ path: String) -> (folder: String, name: String) {
    guard let slash = path.lastIndex(of: "/") else { return (".", path) }
    let folder = path[..<slash]
    return (folder.isEmpty ? "/" : String(folder), String(path[path.index(after: slash)...]))
  }

  private static func special(
    _ name: String, _ status: stat, _ failure: (String) -> CommandFailure
  ) throws(CommandFailure) -> OutputPlace? {
    switch status.st_mode & S_IFMT {
    case S_IFREG: return nil
    case S_IFDIR: throw failure("it is a folder")
    case S_IFSOCK: throw failure("it is a socket")
    default: return .stream(name)
    }
  }

  private static func target(
    of link: String, _ failure: (String) -> CommandFailure
  ) throws(CommandFailure) -> String {
    var count = 0
    let bytes = [CChar](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, initialized in
      count = buffer.baseAddress.map { readlink(link, $0, buffer.count) } ?? -1
      initialized = max(0, count)
    }
    guard count > 0 else { throw failure(String(cString: strerror(errno))) }
    let target = String(decoding: bytes.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return target.hasPrefix("/") ? target : split(link).folder + "/" + target
  }

  /// The descriptor in a path such as `/proc/self/fd/3`; `nil` for other paths.
  private static func descriptor(named path: String) -> Int32? {
    let (folder, name) = split(path)
    guard let number = Int32(name), number >= 0, let folder = resolved(folder) else { return nil }
    return folder == resolved("/proc/self/fd") ? number : nil
  }

  private static func resolved(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }
}

/// The pager for output that is longer than the screen: `$PAGER`, otherwise `less`.
package struct Pager {
  private let stream: UnsafeMutablePointer<FILE>
  package let file: OutputFile
  /// The previous action of SIGINT.
  private let interruption: sigaction

  /// - Returns: `nil` if standard output is not a terminal, or if there is no pager.
  package init?(environment: [String: String]) {
    guard isatty(STDOUT_FILENO) == 1, environment["TERM"] != "dumb" else { return nil }
    let program = environment["PAGER"] ?? "less"
    if program.trimming().isEmpty || program == "cat" { return nil }
    if environment["PAGER"] == nil, !Self.exists(program, environment) { return nil }
    // Options for less: quit immediately if everything fits, and keep colors.
    guard let stream = popen("LESS=\"${LESS-FRX}\" LV=\"${LV--c}\" \(program)", "w") else { return nil }
    self.stream = stream
    file = OutputFile(pager: fileno(stream))
    // The pager handles Ctrl-C itself; after the pager's end, writing to it is an error.
    var before = sigaction()
    sigaction(SIGINT, nil, &before)
    interruption = before
    signal(SIGINT, SIG_IGN)
  }

  private static func exists(_ program: String, _ environment: [String: String]) -> Bool {
    (environment["PATH"] ?? "").split(separator: ":").contains { access("\($0)/\(program)", X_OK) == 0 }
  }

  /// Waits until the user quits the pager.
  package func close() {
    pclose(stream)
    var before = interruption
    sigaction(SIGINT, &before, nil)
  }
}
