// SPDX-License-Identifier: Apache-2.0
import Dispatch
import FirestoreInspection
import Glibc

/// A connection of somebody who watches. Used by `Inspection` alone.
struct Watcher {
  /// What may wait for one who does not read.
  static let mostWaiting = 1 << 20
  /// Requests that may be under way.
  static let mostRequests = 32

  private let descriptor: CInt
  private let reading: any DispatchSourceRead
  private let writing: any DispatchSourceWrite
  private var isWriting = false
  private var waiting: [UInt8] = []
  private var sent = 0

  var received = ReceivedLines()
  /// What it said first; `nil` before.
  var word: InspectionWord?
  var requests = 0
  /// Snapshots that it was not told, since it does not read or for want of time.
  var missed = 0
  /// Whether what it knows of listeners is not what is so.
  var isBehind = false
  var hasSwitchedOff = false
  var hasSetFaults = false

  /// - Parameters:
  ///   - descriptor: does not block; is closed with the watcher.
  ///   - readable: called on the queue when there is something to read.
  ///   - writable: called on the queue when more can be sent, after not all could.
  init(
    _ descriptor: CInt, on queue: DispatchQueue, readable: @escaping @Sendable () -> Void,
    writable: @escaping @Sendable () -> Void
  ) {
    self.descriptor = descriptor
    reading = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    // One of its own, so that each source closes what it watches.
    let writableDescriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    writing = DispatchSource.makeWriteSource(fileDescriptor: writableDescriptor, queue: queue)
    reading.setEventHandler(handler: readable)
    writing.setEventHandler(handler: writable)
    reading.setCancelHandler { close(descriptor) }
    writing.setCancelHandler { close(writableDescriptor) }
    reading.activate()
  }

  /// Whether there is room for something more.
  var hasRoom: Bool { waiting.count - sent < Self.mostWaiting }
  var isEmpty: Bool { waiting.isEmpty }

  /// - Returns: what has come; `nil` when the other end is gone.
  func read() -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 16 << 10)
    let count = recv(descriptor, &bytes, bytes.count, CInt(MSG_DONTWAIT))
    if count < 0, errno == EAGAIN || errno == EINTR { return [] }
    return count > 0 ? Array(bytes[..<count]) : nil
  }

  /// Sends as much as can be, and keeps the rest.
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
