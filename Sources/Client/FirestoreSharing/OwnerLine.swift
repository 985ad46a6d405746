// SPDX-License-Identifier: Apache-2.0
import FirestoreServer
import Glibc

/// The connection on which a process that is attached hears of the owner: it ends with the owner, however that ends.
/// Used by one thread, which it blocks; `cut` may come from any.
final class OwnerLine: Sendable {
  enum News {
    case line(SharingLine)
    /// No line came within the time.
    case silence
    /// The owner is gone, or sends a line that no owner sends.
    case end
  }

  private let descriptor: CInt

  /// - Parameter descriptor: the connection, closed with this value.
  init(_ descriptor: CInt) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// - Returns: false if the owner is gone.
  @discardableResult func send(_ line: SharingLine) -> Bool {
    let bytes = Array(line.text.utf8)
    // A full buffer means that the owner does not read; the line, a question, is dropped.
    return Glibc.send(descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT)) >= 0
      || errno == EAGAIN
  }

  /// Has the reader find the end of the line.
  func cut() { shutdown(descriptor, CInt(SHUT_RDWR)) }

  /// Waits for the next line.
  /// - Parameters:
  ///   - received: the bytes of the line that have come before.
  ///   - milliseconds: the time to wait; negative to wait for ever.
  func next(_ received: inout [UInt8], within milliseconds: CInt) -> News {
    while true {
      if let end = received.firstIndex(of: 0x0A) {
        let line = SharingLine(received[..<end])
        received.removeSubrange(...end)
        return line.map { .line($0) } ?? .end
      }
      var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let count = poll(&entry, 1, milliseconds)
      if count < 0, errno == EINTR { continue }
      if count == 0 { return .silence }
      var bytes = [UInt8](repeating: 0, count: 4_096)
      let length = recv(descriptor, &bytes, bytes.count, 0)
      if length < 0, errno == EINTR { continue }
      guard length > 0, received.count <= SharingLine.maximumBytes else { return .end }
      received += bytes[..<length]
    }
  }
}

/// The system's information about a process.
enum ProcessState {
  /// Whether a signal has stopped it, as Ctrl-Z does.
  static func isStopped(_ process: Int32) -> Bool {
    let descriptor = open("/proc/\(process)/stat", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 512)
    let count = read(descriptor, &bytes, bytes.count)
    guard count > 0, let end = bytes[..<count].lastIndex(of: UInt8(ascii: ")")), end + 2 < count else { return false }
    return [UInt8(ascii: "T"), UInt8(ascii: "t")].contains(bytes[end + 2])
  }
}
