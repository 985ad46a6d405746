// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreServer

/// The messages of a client: each once and in their order, whichever requests they come in. A request that got no
/// answer comes again, by itself or with newer messages; of several at a time the later may come first.
struct ChannelInbox {
  /// The greatest distance of a message from the missing one before it.
  static let mostEarly = 2 * ForwardBody.mostMessages
  static let mostEarlyBytes = ConnectionLimits.requestMessageBytes

  /// The number of the message that is applied next.
  private(set) var next = 0
  private var early: [Int: ForwardBody.Message] = [:]
  /// The number of bytes of messages that wait for others.
  private(set) var bytes = 0

  /// - Returns: the messages whose turn it is.
  /// - Throws: `resource-exhausted` if too much would wait for a message that has not come.
  mutating func receive(_ messages: [ForwardBody.Message]) throws(RPCStatus) -> [ForwardBody.Message] {
    for message in messages where message.number >= next && early[message.number] == nil {
      bytes += message.bytes
      early[message.number] = message
    }
    var ready: [ForwardBody.Message] = []
    while let message = early.removeValue(forKey: next) {
      next += 1
      bytes -= message.bytes
      ready.append(message)
    }
    if bytes > Self.mostEarlyBytes || early.keys.contains(where: { $0 - next > Self.mostEarly }) {
      throw RPCStatus(.resourceExhausted, "Too many messages wait for message \(next), which has not come.")
    }
    return ready
  }
}
