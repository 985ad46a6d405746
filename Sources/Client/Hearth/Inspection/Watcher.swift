// SPDX-License-Identifier: Apache-2.0
import Dispatch
import FirestoreInspection
import Glibc

/// The connection of one watcher. Used by `Inspection` alone.
struct Watcher {
  /// The most bytes that wait for a watcher that does not read.
  static let mostWaiting = 1 << 20
  /// The most requests that may be under way.
  static let mostRequests = 32

  private let descriptor: CInt
  private let reading: any DispatchSourceRead
  private let writing: any DispatchSourceWrite
  private var isWriting = false
  private var waiting: [UInt8] = []
  private var sent = 0

  var received = ReceivedLines()
  /// The watcher's first message; `nil` until it has come.
  var word: InspectionWord?
  var requests = 0
  /// The number of snapshots that the watcher was not told, because it does not read or for want of time.
  var missed = 0
  /// Whether the watcher's knowledge of listeners is out of date.
  var isBehind = false
  var hasSwitchedOff = false
  var hasSetFaults = false

  /// Takes over a connection.
  /// - Parameters:
  ///   - descriptor: the connection, which does not block; closed with the watcher.
  ///   - readable: called on the queue when there is something to read.
  ///   - writable: called on the queue when more can be sent, after not all could.
  init(
    _ descriptor: CInt, on queue: DispatchQueue, readable: @escaping @Sendable () -> Void,
    writable: @escaping @Sendable () -> Void
  ) {
    self.descriptor = descriptor
    reading = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    // A descriptor of its own, so that each source closes the descriptor that it watches.
    let writableDescriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    writing = DispatchSource.makeWriteSource(fileDescriptor: writableDescriptor, queue: queue)
    reading.setEventHandler(handler: readable)
    writing.setEventHandler(handler: writable)
    reading.setCancelHandler { close(descriptor) }
    writing.setCancelHandler { close(writableDescriptor) }
    reading.activate()
  }

  /// Whether there is room for more news.
  var hasRoom: Bool { waiting.count - sent < Self.mostWaiting }
  var isEmpty: Bool { waiting.isEmpty }

  /// Reads from the connection without blocking.
  /// - Returns: the bytes that have come; `nil` when the other end is gone.
  func read() -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 16 << 10)
    let count = recv(descriptor, &bytes, bytes.count, CInt(MSG_DONTWAIT))
    if count < 0, errno == EAGAIN || errno == EINTR { return [] }
    return count > 0 ? Array(bytes[..<count]) : nil
  }

  /// Sends as much as the connection takes, and keeps the rest.
  /// - Returns: false when the other end is gone.
  mutating func send(_ bytes: [UInt8]) -> Bool {
    if waiting.isEmpty { waiting = bytes } else { waiting += bytes }
    return isWriting || sendWaiting()
  }

  mutating func sendWaiting() -> Bool {
    while sent < waiting.count {
      let count = waiting[sent...].withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_DONTWAIT) | CInt(MSG_NOSIGNAL))
      }
      if count < 0, errno == EINTR { continue }
      if count < 0, errno == EAGAIN {
        setWriting(true)
        if sent > Self.mostWaiting / 2 {
          waiting.removeFirst(sent)
          sent = 0
        }
        return true
      }
      if count <= 0 { return false }
      sent += count
    }
    (waiting, sent) = ([], 0)
    setWriting(false)
    return true
  }

  private mutating func setWriting(_ isWanted: Bool) {
    guard isWanted != isWriting else { return }
    isWriting = isWanted
    if isWanted { writing.resume() } else { writing.suspend() }
  }

  /// Closes the connection, once.
  mutating func end() {
    // A source must not be let go while it is suspended.
    writing.cancel()
    setWriting(true)
    reading.cancel()
  }
}
