// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreREST

/// The body of a client's POST: a form (WHATWG URL, "application/x-www-form-urlencoded") of messages, and of the
/// headers that a browser may not send across origins.
///
/// ```
/// headers=Authorization%3ABearer%20t%0D%0A&count=2&ofs=7&req0___data__=%7B…%7D&req1___data__=%7B…%7D
/// ```
struct ForwardBody: Sendable {
  struct Message: Sendable {
    /// The message's place among all messages of a session.
    let number: Int
    /// The request as the service takes it, or the error in it.
    let content: Result<[UInt8], RPCStatus>

    var bytes: Int {
      if case .success(let bytes) = content { bytes.count } else { 0 }
    }
  }

  /// The most messages that the client library sends at a time.
  static let mostMessages = 1_000
  /// The greatest index. A request that comes again with others counts from an offset before its first message.
  private static let mostIndex = 2 * mostMessages
  /// The greatest offset, which no session lives to send.
  private static let mostOffset = 1 << 48

  let messages: [Message]
  let headers: ChannelHeaders

  /// - Throws: `invalid-argument` for bytes that are no such form. A message that cannot be read is kept as its error.
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
          throw RPCStatus(.invalidArgument, "A request may have \(Self.mostMessages) messages.")
        }
      default: break
      }
    }
    if let count, count != texts.count {
      throw RPCStatus(.invalidArgument, "The request says count=\(count), and has \(texts.count) messages.")
    }
    messages = texts.sorted { $0.key < $1.key }.map { index, text in
      Message(number: offset + index, content: Self.content(text, of: method))
    }
    self.headers = headers
  }

  private static func content(_ text: [UInt8]?, of method: StreamMethod) -> Result<[UInt8], RPCStatus> {
    guard let text else {
      return .failure(RPCStatus(.invalidArgument, "A message has no __data__, which holds it as JSON."))
    }
    do throws(RPCStatus) { return .success(try method.request(text)) } catch { return .failure(error) }
  }

  private static func number(_ digits: [UInt8], _ name: String, upTo most: Int) throws(RPCStatus) -> Int {
    guard !digits.isEmpty, digits.count <= 15, digits.allSatisfy({ (0x30...0x39).contains($0) }),
      let number = Int(String(decoding: digits, as: UTF8.self)), number <= most
    else {
      throw RPCStatus(.invalidArgument, "\(name.prefix(20)) of the request is no number from 0 to \(most).")
    }
    return number
  }
}

/// Headers that a browser puts into the address or the body of a session's first request, so that it does not have to
/// ask first whether it may send them.
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

  /// A copy of these headers, in which `others` fill what is missing.
  func or(_ others: ChannelHeaders) -> ChannelHeaders {
    var headers = self
    if headers.authorization == nil { headers.authorization = others.authorization }
    return headers
  }
}
