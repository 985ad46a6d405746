// SPDX-License-Identifier: Apache-2.0
import FirestoreAccess
import FirestoreBackend
import FirestoreModel
import FirestoreServer
import FirestoreService
import FirestoreTesting
import NIOCore
import NIOEmbedded
import ServerTesting

@testable import FirestoreEmulator

/// An answer of HTTP/1, as far as it has come.
struct Answer {
  struct Malformed: Error {
    let text: String
  }

  let status: String
  let head: String
  /// Without chunks.
  let body: String
  /// Its last chunk has come.
  let isWhole: Bool

  init(_ text: String) throws {
    guard let end = text.firstRange(of: "\r\n\r\n") else { throw Malformed(text: text) }
    head = String(text[..<end.lowerBound])
    status = String(head.prefix { $0 != "\r\n" }.dropFirst(9))
    let rest = Array(text[end.upperBound...].utf8)
    guard head.lowercased().contains("transfer-encoding: chunked") else {
      (body, isWhole) = (rest.text, true)
      return
    }
    let chunks = try Chunks(rest)
    (body, isWhole) = (chunks.bytes.text, chunks.isWhole)
  }

  /// The numbered arrays that it has.
  var arrays: [(number: Int, text: String)] { get throws { try JSONArrays(Array(body.utf8)).elements } }

  func has(_ line: String) -> Bool { (head + "\r\n").contains("\r\n\(line)\r\n") }
}

/// A body in chunks (RFC 9112 §7.1).
struct Chunks {
  private(set) var bytes: [UInt8] = []
  private(set) var isWhole = false

  init(_ text: [UInt8]) throws {
    var rest = text[...]
    while !rest.isEmpty {
      let digits = rest.prefix { $0 != 0x0D }
      guard let count = Int(String(decoding: digits, as: UTF8.self), radix: 16) else {
        throw Answer.Malformed(text: Array(rest).text)
      }
      rest = rest.dropFirst(digits.count + 2)
      bytes += rest.prefix(count)
      rest = rest.dropFirst(count + 2)
      isWhole = count == 0
    }
  }
}

extension WebChannels {
  convenience init(
    _ service: FirestoreService, on loop: any EventLoop, _ limits: Limits = .loopback,
    report: (@Sendable (String) -> Void)? = nil
  ) {
    self.init(service, DeliverySlice(loop), ServerBudget(on: loop, limit: 1 << 30), limits, on: loop, report: report)
  }
}

/// A server for browsers, whose pages have a connection for each request.
struct BrowserFixture {
  let loop = EmbeddedEventLoop()
  let backend: LocalBackend
  let channels: WebChannels
  let budget: ServerBudget
  private let service: FirestoreService
  /// The version of the service in the addresses of its channels.
  private let version: String

  static let page = "http://localhost:5000"

  init(
    _ limits: WebChannels.Limits = .loopback, rules: AccessRules? = nil, version: String = "v1",
    report: (@Sendable (String) -> Void)? = nil
  ) throws {
    self.version = version
    backend = try makeBackend()
    service = FirestoreService(backend: backend, rules: rules)
    budget = ServerBudget(on: loop, limit: 1 << 30)
    channels = WebChannels(service, DeliverySlice(loop), budget, limits, on: loop, report: report)
  }

  func connect() throws -> EmbeddedChannel {
    let channel = EmbeddedChannel(loop: loop)
    try PortPipeline.addHTTP1(
      to: channel, service, ControlOrigins(isLoopback: true), channels, ConnectionBudget(on: loop),
      handshake: .seconds(10))
    channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
    return channel
  }

  func address(_ method: String, _ query: String) -> String {
    "/google.firestore.\(version).Firestore/\(method)/channel?VER=8&database=projects%2Fp%2Fdatabases%2F(default)&\(query)"
  }

  func send(
    _ channel: EmbeddedChannel, _ verb: String, _ target: String, _ body: String = "", origin: String = page,
    header: String = "X-Nothing: 0"
  ) throws {
    try channel.receive(
      "\(verb) \(target) HTTP/1.1\r\nHost: localhost\r\nOrigin: \(origin)\r\nContent-Length: \(body.utf8.count)\r\n"
        + "\(header)\r\n\r\n\(body)")
  }

  /// Asks, on a connection of its own.
  func ask(
    _ verb: String, _ method: String, _ query: String, _ body: String = "", origin: String = page,
    header: String = "X-Nothing: 0"
  ) throws -> Answer {
    let channel = try connect()
    try send(channel, verb, address(method, query), body, origin: origin, header: header)
    let answer = try Answer(try channel.sentText())
    channel.close(promise: nil)
    return answer
  }

  /// A form of messages.
  func form(_ offset: Int, _ messages: String...) -> String {
    var fields = ["count=\(messages.count)", "ofs=\(offset)"]
    for (index, message) in messages.enumerated() {
      let escaped = message.utf8.map { byte in
        let scalar = Unicode.Scalar(byte)
        let isPlain = scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar))
        return isPlain ? String(scalar) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }
      fields.append("req\(index)___data__=\(escaped.joined())")
    }
    return fields.joined(separator: "&")
  }

  /// Opens a session.
  /// - Returns: its name.
  func open(
    _ method: String, _ body: String, _ rest: String = "", header: String = "X-Nothing: 0"
  ) throws -> String {
    let answer = try ask("POST", method, "RID=1&CVER=22&X-HTTP-Session-Id=gsessionid\(rest)", body, header: header)
    let parts = answer.body.split(separator: "\"")
    guard parts.count > 3 else { throw Answer.Malformed(text: answer.body) }
    return String(parts[3])
  }

  /// Opens a back channel, and leaves it open if the server does.
  func back(_ method: String, _ session: String, after number: Int, _ rest: String = "CI=0") throws -> EmbeddedChannel {
    let channel = try connect()
    try send(channel, "GET", address(method, "SID=\(session)&RID=rpc&AID=\(number)&TYPE=xmlhttp&\(rest)"))
    loop.run()
    return channel
  }

  func listen(_ path: String, target: Int = 2) -> String {
    #"{"database":"\#(database.name)","addTarget":{"documents":{"documents":["\#(database.documentsName)/\#(path)"]},"#
      + #""targetId":\#(target)}}"#
  }

  func write(_ path: String, _ text: String, exists: Bool? = nil) -> String {
    let condition = exists.map { #","currentDocument":{"exists":\#($0)}"# } ?? ""
    return #"{"streamToken":"AAAAAAAAAAA=","writes":[{"update":{"name":"\#(database.documentsName)/\#(path)","#
      + #""fields":{"text":{"stringValue":"\#(text)"}}}\#(condition)}]}"#
  }
}
