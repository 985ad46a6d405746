// SPDX-License-Identifier: Apache-2.0

/// The sessions of WebChannel, by their ids, whose answers a fault is about.
struct BrokenChannels {
  private static let most = 10_000

  /// Sessions whose next answer to a write is lost.
  var losing: Set<String> = []
  /// Sessions that are over: the server may go on with them, the client is told that they are unknown.
  private(set) var dead: Set<String> = []
  /// The sessions as they pass.
  private(set) var sessions: [String: ProxiedSession] = [:]
  /// The connections on which back channels are open.
  var backs: [String: HTTP1Bridge] = [:]

  mutating func kill(_ session: String) {
    losing.remove(session)
    sessions[session] = nil
    if dead.count >= Self.most { dead = [] }
    dead.insert(session)
  }

  mutating func change<Result>(_ session: String, _ body: (inout ProxiedSession) -> Result) -> Result {
    if sessions[session] == nil, sessions.count >= Self.most { sessions = sessions.filter { $0.value.hasOwn } }
    return body(&sessions[session, default: ProxiedSession()])
  }
}
