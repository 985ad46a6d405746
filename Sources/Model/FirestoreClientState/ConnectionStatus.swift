// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The client's ability to reach the backend, as far as the client knows.
package enum OnlineState: String, Hashable, Sendable { case unknown, online, offline }

/// One of the two streams between client and backend.
package struct StreamStatus: Hashable, Sendable {
  package enum State: Hashable, Sendable {
    case closed, opening, open
    case backoff(until: Timestamp)
  }

  package var state: State
  package var lastError: RPCStatus?

  package init(_ state: State = .closed, lastError: RPCStatus? = nil) {
    self.state = state
    self.lastError = lastError
  }
}

/// The reason why the client is not online.
package enum ConnectionReason: Hashable, Sendable {
  /// No listener needs a connection, and no write is pending.
  case idle
  /// The client is waiting for the first response.
  case connecting
  case networkDisabled
  /// The cache cannot be written. The client must not receive data, because it could not store the data.
  case storageFailed
  /// A stream failed with this status.
  case failed(RPCStatus)
  /// The backend did not answer within ten seconds.
  case noAnswer
  /// Another client that shares the cache has the connection.
  case elsewhere
}

extension ConnectionReason: CustomStringConvertible {
  package var description: String {
    switch self {
    case .idle: "no listener and no write needs a connection"
    case .connecting: "connecting"
    case .networkDisabled: "the network is disabled"
    case .storageFailed: "the cache cannot be written"
    case .failed(let status): status.description
    case .noAnswer: "the server does not answer"
    case .elsewhere: "another process that shares the cache has the connection"
    }
  }

  /// Whether the reason is a failure, and not something that the user or the program requested.
  package var isFailure: Bool {
    switch self {
    case .storageFailed, .failed, .noAnswer: true
    case .idle, .connecting, .networkDisabled, .elsewhere: false
    }
  }
}

/// The state of a client's connection, over all streams, at one point in time.
package struct ConnectionState: Hashable, Sendable {
  package var online: OnlineState
  /// The time at which the state last changed.
  package var since: Timestamp
  /// The reason why the client is not online; `nil` while the client is online.
  package var reason: ConnectionReason?
  /// The time of the next attempt to connect or to write to the cache; `nil` if no attempt is scheduled.
  package var nextAttempt: Timestamp?

  package init(
    _ online: OnlineState, since: Timestamp, reason: ConnectionReason? = nil, nextAttempt: Timestamp? = nil
  ) {
    self.online = online
    self.since = since
    self.reason = reason
    self.nextAttempt = nextAttempt
  }
}

/// One stream to the backend: its state, and its traffic since the client was opened.
package struct StreamUse: Hashable, Sendable {
  package enum Kind: String, Hashable, Sendable { case watch, write }

  /// The sizes of the messages in bytes, without transport overhead.
  package struct Bytes: Hashable, Sendable {
    package var sent: Int
    package var received: Int

    package init(sent: Int = 0, received: Int = 0) {
      self.sent = sent
      self.received = received
    }
  }

  package var kind: Kind
  package var status: StreamStatus
  /// The number of times that the stream was opened.
  package var begun: Int
  /// The time at which the current stream began; if no stream is open, the time at which the last one began.
  package var since: Timestamp?
  package var messagesSent: Int
  package var messagesReceived: Int
  /// The time at which the last message arrived.
  package var heardAt: Timestamp?
  /// The total sizes of the messages; `nil` if messages are not encoded, because the backend is in this process.
  package var bytes: Bytes?
  /// The maximum time without messages. If it is exceeded, the client closes the stream. `nil` for no limit.
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
