// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreREST
import FirestoreServer

/// A WebChannel request: its purpose, according to its method and target.
///
/// ```
/// /google.firestore.v1.Firestore/{Listen|Write}/channel?VER=8&database=…
///   POST &RID=n&X-HTTP-Session-Id=gsessionid        opens a session, with its first messages
///   POST &SID=…&RID=n&AID=…                         sends messages
///   GET  &SID=…&RID=rpc&AID=…&CI=0&TYPE=xmlhttp     opens the back channel; CI=1: a buffered one, for TO milliseconds
///   GET, POST &SID=…&TYPE=terminate                 ends the session
///   GET  &MODE=init, then &TYPE=xmlhttp             tests the connection before there is a session
/// ```
///
/// Web SDKs up to 5.5 write `v1beta1` with the same meaning as `v1`.
struct WebChannelRequest {
  enum Wish: Equatable {
    case open(wantsSessionID: Bool)
    case send(session: String)
    /// - `patience`: the time that the client waits, in seconds.
    case receive(session: String, isBuffered: Bool, patience: Int?)
    case terminate(session: String)
    /// A request for the server's parameters. A client library sends it before it opens a session.
    case parameters
    /// A test of the connection for buffering proxies.
    case trial
  }

  let method: StreamMethod
  let wish: Wish
  /// The number of the newest array that the client has received.
  let acknowledged: Int?
  /// The headers in the target. A library puts them there for a request without a body.
  let headers: ChannelHeaders

  /// Whether a request is a WebChannel request, valid or not. Invalid ones are also rejected as WebChannel responses,
  /// so that a page can read the reason.
  static func isOne(_ target: String) -> Bool {
    target.hasPrefix("/google.firestore.") && target.prefix { $0 != "?" && $0 != "#" }.hasSuffix("/channel")
  }

  /// - Parameters:
  ///   - verb: the HTTP method.
  ///   - target: the target as received.
  /// - Throws: `not-found` for a method that is not a stream, `invalid-argument` for an unknown target.
  init(_ verb: String, _ target: String) throws(RPCStatus) {
    let path = target.prefix { $0 != "?" && $0 != "#" }
    let call = path.dropLast("/channel".count)
    let root = [CallHeaders.root, CallHeaders.formerRoot].first { call.hasPrefix($0) }
    guard let root, let method = StreamMethod(rawValue: String(call.dropFirst(root.count))) else {
      throw RPCStatus(
        .notFound,
        "Unknown channel \(call.prefix(100)). Use Listen or Write of google.firestore.v1.Firestore.")
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
        .invalidArgument, "\(verb) has invalid parameters. A back channel needs SID and TYPE=xmlhttp.")
    }
  }
}

/// The body of a client's POST. It is a form (WHATWG URL, "application/x-www-form-urlencoded") with messages, and with
/// headers that browsers may not send to another origin without a preflight.
///
/// ```
/// headers=Authorization%3ABearer%20t%0D%0A&count=2&ofs=7&req0___data__=%7B…%7D&req1___data__=%7B…%7D
/// ```
struct ForwardBody: Sendable {
  struct Message: Sendable {
    /// The message's number in the session.
    let number: Int
    /// The request in the service's format, or its error.
    let content: Result<[UInt8], RPCStatus>

    var bytes: Int {
      if case .success(let bytes) = content { bytes.count } else { 0 }
    }
  }

  /// The maximum number of messages that the client library sends in one request.
  static let mostMessages = 1_000
  /// The maximum index. The index of a message in a repeated request may exceed the number of messages, because the
  /// index is counted from an earlier offset.
  private static let mostIndex = 2 * mostMessages
  /// The maximum offset, which no session reaches.
  private static let mostOffset = 1 << 48

  let messages: [Message]
  let headers: ChannelHeaders

  /// - Throws: `invalid-argument` for an invalid form. For an invalid message, its error is stored.
  init(_ body: [UInt8], of method: StreamMethod) throws(RPCStatus) {
    var (count, offset): (Int?, Int) = (nil, 0)
    var headers = ChannelHeaders()
    var texts: [Int: [UInt8]?] = [:]
    var rest = body[...]
    while !rest.isEmpty {
      let field = rest.prefix { $0 != UInt8(ascii: "&") }
      rest = rest.dropFirst(field.count + 1)
      let key = field.prefix { $0 != UInt8(ascii: "=") }
      let name = String(decoding: key, as: UTF8.self)
      let value = PercentEncoding.bytes(of: field.dropFirst(key.count + 1), spaces: true)
      switch name {
      case "count": count = try Self.number(value, name, upTo: Self.mostMessages)
      case "ofs": offset = try Self.number(value, name, upTo: Self.mostOffset)
      case "headers": headers = ChannelHeaders(lines: value)
      case _ where name.hasPrefix("req"):
        let digits = key.dropFirst(3).prefix { $0 != UInt8(ascii: "_") }
        let index = try Self.number(Array(digits), name, upTo: Self.mostIndex)
        if name.hasSuffix("___data__") {
          texts[index] = value
        } else if texts[index] == nil {
          texts[index] = .some(nil)
        }
        if texts.count > Self.mostMessages {
          throw RPCStatus(.invalidArgument, "A request can have at most \(Self.mostMessages) messages.")
        }
      default: break
      }
    }
    if let count, count != texts.count {
      throw RPCStatus(.invalidArgument, "The request has count=\(count), but \(texts.count) messages.")
    }
    messages = texts.sorted { $0.key < $1.key }.map { index, text in
      Message(number: offset + index, content: Self.content(text, of: method))
    }
    self.headers = headers
  }

  private static func content(_ text: [UInt8]?, of method: StreamMethod) -> Result<[UInt8], RPCStatus> {
    guard let text else {
      return .failure(RPCStatus(.invalidArgument, "A message has no __data__ with its JSON."))
    }
    do throws(RPCStatus) { return .success(try method.request(text)) } catch { return .failure(error) }
  }

  private static func number(_ digits: [UInt8], _ name: String, upTo most: Int) throws(RPCStatus) -> Int {
    guard !digits.isEmpty, digits.count <= 15, digits.allSatisfy({ (0x30...0x39).contains($0) }),
      let number = Int(String(decoding: digits, as: UTF8.self)), number <= most
    else {
      throw RPCStatus(.invalidArgument, "\(name.prefix(20)) of the request is not a number from 0 to \(most).")
    }
    return number
  }
}

/// Headers that a browser puts into the URL or the body of a session's first request, so that no preflight is needed.
struct ChannelHeaders: Sendable {
  /// The header `Authorization`, `Bearer …`, which identifies the browser's user.
  var authorization: String?

  init(authorization: String? = nil) { self.authorization = authorization }

  /// - Parameter lines: the headers as `Name:value`, each ended by CR LF.
  init(lines: [UInt8]) {
    for line in lines.split(whereSeparator: { $0 == 0x0D || $0 == 0x0A }) {
      let name = String(decoding: line.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self)
      guard name.lowercased() == "authorization" else { continue }
      let value = line.dropFirst(name.utf8.count + 1).drop { $0 == 0x20 }
      authorization = String(decoding: value, as: UTF8.self)
    }
  }

  /// Returns these headers; missing ones are taken from `others`.
  func or(_ others: ChannelHeaders) -> ChannelHeaders {
    var headers = self
    if headers.authorization == nil { headers.authorization = others.authorization }
    return headers
  }
}
