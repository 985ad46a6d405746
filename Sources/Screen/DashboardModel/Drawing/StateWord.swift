// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The words for the state of the connection and of the shown data, each with its definition. Each word states a fact
/// that can be checked. The time of the fact follows if it is known.
package enum StateWord: CaseIterable, Sendable {
  case online, connecting, offline, notConnected, refused, ended
  case server, cache, asking, idle, acknowledged

  /// The word, or the part of it before the time.
  package var text: String {
    switch self {
    case .online: "ONLINE"
    case .connecting: "CONNECTING"
    case .offline: "OFFLINE"
    case .notConnected: "NOT CONNECTED"
    case .refused: "REJECTED"
    case .ended: "ENDED"
    case .server: "server's, as of"
    case .cache: "cache, not asked since"
    case .asking: "cache, not answered yet"
    case .idle: "idle since"
    case .acknowledged: "#7 acknowledged"
    }
  }

  /// The remark after the word, if there is space for it.
  package var remark: String? { self == .notConnected ? "nothing to ask" : nil }

  package var meaning: String {
    switch self {
    case .online: "the server answers"
    case .connecting: "waiting for the server"
    case .offline: "it does not answer, or you switched it off"
    case .notConnected: "no listener, no write needs it"
    case .refused: "the server rejects every request"
    case .ended: "the watched program is gone"
    case .server: "the server's version at that time"
    case .cache: "the server's last version"
    case .asking: "waiting for the server"
    case .idle: "no event since then; keys do not count"
    case .acknowledged: "the server accepted write 7"
    }
  }

  /// The word for the state, followed by a time.
  package func text(at time: Timestamp, offset: Int) -> String { "\(text) \(TimeText.clock(time, offset: offset))" }
}

/// The source of the open document, with its time.
package struct DocumentSource: Hashable, Sendable {
  /// Whether the document comes from the cache: the server has not sent it since the client started or since the last
  /// outage.
  package let isFromCache: Bool
  /// The time of the last update.
  package let time: Timestamp

  package init(isFromCache: Bool, time: Timestamp) {
    self.isFromCache = isFromCache
    self.time = time
  }

  /// The source as text.
  /// - Parameter outage: the start of the current outage; `nil` while the server is reachable.
  package func text(outage: Timestamp?, offset: Int) -> String {
    if let outage { return StateWord.cache.text(at: outage, offset: offset) }
    return isFromCache ? StateWord.asking.text : StateWord.server.text(at: time, offset: offset)
  }
}
