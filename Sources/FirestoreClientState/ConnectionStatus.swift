// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// Whether the client can talk to the backend, as far as it knows.
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

/// Why the client is not online.
package enum ConnectionReason: Codable, Hashable, Sendable {
  /// No listener needs a connection, and nothing waits to be sent.
  case idle
  /// The first answer is still awaited.
  case connecting
  case networkDisabled
  /// The cache cannot be written, so nothing may arrive that would have to be stored.
  case storageFailed
  /// The last failure of a stream.
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

  /// Whether something is wrong, rather than as the user or the program wants it.
  package var isFailure: Bool {
    switch self {
    case .storageFailed, .failed, .noAnswer: true
    case .idle, .connecting, .networkDisabled, .elsewhere: false
    }
  }
}
