// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// One stream to the backend: its state, and what has gone over it since the client was opened.
package struct StreamUse: Codable, Hashable, Sendable {
  package enum Kind: String, Codable, Hashable, Sendable { case watch, write }

  /// The sizes of the messages, without the transport's own bytes.
  package struct Bytes: Codable, Hashable, Sendable {
    package var sent: Int
    package var received: Int

    package init(sent: Int = 0, received: Int = 0) {
      self.sent = sent
      self.received = received
    }
  }

  package var kind: Kind
  package var status: StreamStatus
  /// The number of times that the stream was begun.
  package var begun: Int
  /// The time at which the present stream, or the last one, was begun.
  package var since: Timestamp?
  package var messagesSent: Int
  package var messagesReceived: Int
  /// The time at which the last message came.
  package var heardAt: Timestamp?
  /// The sizes of the messages; `nil` where they do not become bytes, because the backend is in this process.
  package var bytes: Bytes?
  /// The silence after which the stream is given up; `nil` if none is too long.
  package var longestSilence: Duration?

  package init(
    kind: Kind, status: StreamStatus, begun: Int = 0, since: Timestamp? = nil, messagesSent: Int = 0,
    messagesReceived: Int = 0, heardAt: Timestamp? = nil, bytes: Bytes? = nil, longestSilence: Duration? = nil
  ) {
    self.kind = kind
    self.status = status
    self.begun = begun
    self.since = since
    self.messagesSent = messagesSent
    self.messagesReceived = messagesReceived
    self.heardAt = heardAt
    self.bytes = bytes
    self.longestSilence = longestSilence
  }
}
