// SPDX-License-Identifier: Apache-2.0
import NIOCore

/// Finds the messages of gRPC in a stream's bytes that pass by, and keeps the beginning of each.
struct MessageCounter {
  struct Message {
    /// The beginning of the content, the whole of it if it is no longer than `mostKept`.
    var content: [UInt8]
    /// The size in bytes without the five in front.
    var size: Int
    var isCompressed: Bool
    var isWhole: Bool { content.count == size && !isCompressed }
  }

  static let mostKept = 64 << 10
  private static let front = 5

  private var head: [UInt8] = []
  private var message: Message?
  private var missing = 0

  /// Whether the next byte begins a message.
  var isBetween: Bool { head.isEmpty && message == nil }

  mutating func messages(in bytes: ByteBuffer) -> [Message] {
    var view = bytes.readableBytesView
    var found: [Message] = []
    while true {
      if message == nil {
        let taken = view.prefix(Self.front - head.count)
        head += taken
        view = view.dropFirst(taken.count)
        guard head.count == Self.front else { return found }
        missing = head[1...].reduce(0) { $0 << 8 | Int($1) }
        message = Message(content: [], size: missing, isCompressed: head[0] != 0)
        head = []
      }
      let taken = view.prefix(missing)
      let room = Self.mostKept - (message?.content.count ?? 0)
      message?.content += taken.prefix(room)
      missing -= taken.count
      view = view.dropFirst(taken.count)
      guard missing == 0, let whole = message else { return found }
      found.append(whole)
      message = nil
    }
  }
}
