// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreREST
import FirestoreServer

/// A request of WebChannel, as far as its method and address tell its purpose.
///
/// ```
/// /google.firestore.v1.Firestore/{Listen|Write}/channel?VER=8&database=…
///   POST &RID=n&X-HTTP-Session-Id=gsessionid        opens a session, with its first messages
///   POST &SID=…&RID=n&AID=…                         sends messages
///   GET  &SID=…&RID=rpc&AID=…&CI=0&TYPE=xmlhttp     opens the back channel; CI=1: a buffered one, for TO milliseconds
///   GET, POST &SID=…&TYPE=terminate                 ends the session
///   GET  &MODE=init, then &TYPE=xmlhttp             tries the line, before there is a session
/// ```
///
/// Web SDKs up to 5.5 write `v1beta1` for `v1`, and mean the same.
struct WebChannelRequest {
  enum Wish: Equatable {
    case open(wantsSessionID: Bool)
    case send(session: String)
    /// - `patience`: the time that the client waits, in seconds.
    case receive(session: String, isBuffered: Bool, patience: Int?)
    case terminate(session: String)
    /// The parameters of the server, which a client library asks for before it opens a session.
    case parameters
    /// A test of the line: whether something on it holds back the server's bytes.
    case trial
  }

  let method: StreamMethod
  let wish: Wish
  /// The number of the newest array that the client has.
  let acknowledged: Int?
  /// The headers in the address, where a library puts them for a request without a body.
  let headers: ChannelHeaders

  /// Whether a request is for WebChannel at all. A request in a wrong form is refused here too, so that a page can read
  /// the reason.
  static func isOne(_ target: String) -> Bool {
    target.hasPrefix("/google.firestore.") && target.prefix { $0 != "?" && $0 != "#" }.hasSuffix("/channel")
  }

  /// - Parameters:
  ///   - verb: the method of HTTP.
  ///   - target: the target as it came.
  /// - Throws: `not-found` for a method that is no stream, `invalid-argument` for an address that means nothing.
  init(_ verb: String, _ target: String) throws(RPCStatus) {
    let path = target.prefix { $0 != "?" && $0 != "#" }
    let call = path.dropLast("/channel".count)
    let root = [CallHeaders.root, CallHeaders.formerRoot].first { call.hasPrefix($0) }
    guard let root, let method = StreamMethod(rawValue: String(call.dropFirst(root.count))) else {
      throw RPCStatus(
        .notFound,
        "There is no channel \(call.prefix(100)) here. Listen and Write of google.firestore.v1.Firestore have one.")
    }
    self.method = method
    var parameters: [String: String] = [:]
    for pair in target.dropFirst(path.count + 1).prefix(while: { $0 != "#" }).split(separator: "&") {
      let name = pair.prefix { $0 != "=" }
      parameters[PercentEncoding.decoded(name)] = PercentEncoding.decoded(
        pair.dropFirst(name.count + 1), spaces: true)
    }
    acknowledged = parameters["AID"].flatMap { Int($0) }
    headers = ChannelHeaders(lines: Array((parameters["$httpHeaders"] ?? "").utf8))
    wish = try Self.wish(verb, parameters)
  }

  private static func wish(_ verb: String, _ parameters: [String: String]) throws(RPCStatus) -> Wish {
    let (session, kind) = (parameters["SID"], parameters["TYPE"])
    switch (verb, session, kind) {
    case ("GET", let session?, "terminate"), ("POST", let session?, "terminate"): return .terminate(session: session)
    case ("POST", let session?, _): return .send(session: session)
    case ("POST", nil, _): return .open(wantsSessionID: parameters["X-HTTP-Session-Id"] != nil)
    case ("GET", let session?, "xmlhttp"):
      let patience = parameters["TO"].flatMap { Int($0) }.map { $0 / 1_000 }
      return .receive(session: session, isBuffered: parameters["CI"] == "1", patience: patience)
    case ("GET", nil, _) where parameters["MODE"] == "init", ("HEAD", nil, _): return .parameters
    case ("GET", nil, "xmlhttp") where parameters["RID"] == nil: return .trial
    default:
      throw RPCStatus(
        .invalidArgument, "\(verb) means nothing with these parameters: a back channel needs SID and TYPE=xmlhttp.")
    }
  }
}
