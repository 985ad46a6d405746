// SPDX-License-Identifier: Apache-2.0

/// Messages of a response stream, gathered into batches that are worth sending together: one way through the transport,
/// and one look at whether the client reads, for each.
package struct MessageBatches<Messages: Sequence<[UInt8]>>: Sequence, IteratorProtocol {
  /// Beyond this a batch is not cheaper per message.
  private static var batchBytes: Int { 64 << 10 }

  private var messages: Messages.Iterator

  fileprivate init(_ messages: Messages) { self.messages = messages.makeIterator() }

  package mutating func next() -> [[UInt8]]? {
    var (batch, bytes) = ([[UInt8]](), 0)
    while bytes < Self.batchBytes, let message = messages.next() {
      batch.append(message)
      bytes += message.count
    }
    return batch.isEmpty ? nil : batch
  }
}

extension Sequence<[UInt8]> {
  package var inBatches: MessageBatches<Self> { MessageBatches(self) }
}
