// SPDX-License-Identifier: Apache-2.0
import Dispatch
import FirestoreInspection
import Glibc
import Synchronization

/// A connection to a program that may be watched. It has one reader; unread lines wait at the program, which goes on.
package final class InspectionLink: Sendable {
  private let descriptor: CInt
  private let queue = DispatchQueue(label: "hearth.inspection-link")
  private let received = Mutex(ReceivedLines())

  /// - Parameter descriptor: closed with this value.
  init(_ descriptor: CInt) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// Waits for the next lines; `nil` when the program is gone, or after `cut`.
  func next() async -> [[UInt8]]? {
    await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: self.receive(within: -1)) }
    }
  }

  /// Blocks until there is at least one line.
  /// - Parameter milliseconds: negative to wait for good.
  /// - Returns: `nil` also if no line came in time.
  func receive(within milliseconds: CInt) -> [[UInt8]]? {
    while true {
      var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let ready = poll(&entry, 1, milliseconds)
      if ready < 0, errno == EINTR { continue }
      if ready <= 0 { return nil }
      var bytes = [UInt8](repeating: 0, count: 64 << 10)
      let count = recv(descriptor, &bytes, bytes.count, 0)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return nil }
      let (lines, rest) = received.withLock { received in
        (received.take(bytes[..<count]), received.count)
      }
      if !lines.isEmpty { return lines }
      if rest > InspectionLine.longestNews { return nil }
    }
  }

  /// - Returns: `false` if the program is gone, or does not read.
  @discardableResult func send(_ value: some Encodable) -> Bool {
    // Every value sent here can be encoded.
    guard let bytes = try? InspectionLine.bytes(value) else { return false }
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT))
      }
      if count < 0, errno == EINTR { continue }
      if count <= 0 { return false }
      sent += count
    }
    return true
  }

  /// Ends the connection, which the reader notices.
  func cut() { shutdown(descriptor, CInt(SHUT_RDWR)) }
}
