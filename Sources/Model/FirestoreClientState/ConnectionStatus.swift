// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The client's knowledge of whether it can talk to the backend.
package enum OnlineState: String, Codable, Hashable, Sendable { case unknown, online, offline }

/// One of the two streams between client and backend.
package struct StreamStatus: Codable, Hashable, Sendable {
  package enum State: Codable, Hashable, Sendable {
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
package enum ConnectionReason: Codable, Hashable, Sendable {
  /// No listener needs a connection, and nothing waits to be sent.
  case idle
  /// The first answer is still awaited.
  case connecting
  case networkDisabled
  /// The cache cannot be written, so that nothing may arrive that would have to be stored.
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
    case .idle: "nothing to connect for"
    case .connecting: "connecting"
    case .networkDisabled: "the network is disabled"
    case .storageFailed: "the cache cannot be written"
    case .failed(let status): status.description
    case .noAnswer: "the server does not answer"
    case .elsewhere: "another process that shares the cache has the connection"
    }
  }

  /// Whether the reason is a failure, and not the wish of the user or the program.
  package var isFailure: Bool {
    switch self {
    case .storageFailed, .failed, .noAnswer: true
    case .idle, .connecting, .networkDisabled, .elsewhere: false
    }
  }
}
