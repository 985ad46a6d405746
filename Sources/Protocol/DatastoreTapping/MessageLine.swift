// SPDX-License-Identifier: Apache-2.0
package import FirestoreJSON
package import FirestoreModel
import FirestoreProtoJSON
import FirestoreProtocol

/// A tapped message as a JSON object: written on a line of its own as `{"message": {…}}`, and read back from it.
package struct MessageLine: Sendable {
  private typealias Member = JSONSyntax.Member

  /// The beginning of a line by which it is told from others.
  package static let beginning = #"{"message":"#

  package var time: Timestamp
  package var channel: TappedMessage.Channel
  package var number: Int
  package var event: TappedMessage.Event
  package var kind: String
  package var targets: [Int]
  /// The paths of the first documents that it is about.
  package var documents: [String]
  package var count: Int
  /// The length of its token in bytes; `nil` where it has none.
  package var tokenLength: Int?
  package var status: RPCStatus?
  package var byteCount: Int?
  /// The name of the message of google.firestore.v1 that `content` is, such as `ListenResponse`.
  package var type: String?
  /// The message as protocol JSON, or an array of such; `nil` for one that was too large, and for what has none.
  package var content: JSONSyntax?

  package init(_ message: TappedMessage) {
    (time, channel, number, event) = (message.time, message.channel, message.number, message.event)
    (kind, count, tokenLength, status) = (message.kind, message.count, message.tokenLength, message.status)
    targets = message.targets.map { Int($0.rawValue) }
    documents = message.documents.map(\.path.text)
    byteCount = message.byteCount
    switch message.content {
    case .none: break
    case .one(let schema, let bytes):
      type = schema.shortName
      content = Self.json(of: bytes, schema)
    case .list(let schema, let messages):
      type = schema.shortName
      content = JSONSyntax(.array(messages.compactMap { Self.json(of: $0, schema) }))
    }
  }

  /// Writes a message as JSON; `nil` for one that the codec cannot write, of which the size is told.
  private static func json(of bytes: [UInt8], _ schema: MessageSchema) -> JSONSyntax? {
    guard let text = try? MessageWriter.text(of: bytes, schema, isPretty: false) else { return nil }
    return try? JSONSyntax(parsing: String(decoding: text, as: UTF8.self), numbers: .ofAnySize)
  }

  // MARK: Writing

  /// The line, without its end.
  package var text: String { JSONSyntax(.object([Member("message", object)])).lineText }

  /// The object alone. Names whose values say nothing are left out.
  package var object: JSONSyntax {
    var members = [Member("at", Self.string(time.rfc3339Text))]
    if event != .missed {
      members += [
        Member("stream", Self.string(channel.rawValue)), Member("number", Self.integer(number)),
      ]
    }
    members.append(Member("event", Self.string(event.rawValue)))
    if !kind.isEmpty { members.append(Member("kind", Self.string(kind))) }
    if !targets.isEmpty { members.append(Member("targets", JSONSyntax(.array(targets.map(Self.integer))))) }
    if !documents.isEmpty { members.append(Member("documents", JSONSyntax(.array(documents.map(Self.string))))) }
    if count > 0 { members.append(Member("count", Self.integer(count))) }
    if let tokenLength, tokenLength > 0 { members.append(Member("token", Self.integer(tokenLength))) }
    if let status {
      let parts = [Member("code", Self.string(status.code.name)), Member("message", Self.string(status.message))]
      members.append(Member("status", JSONSyntax(.object(parts))))
    }
    if let byteCount { members.append(Member("bytes", Self.integer(byteCount))) }
    if let type, let content { members += [Member("type", Self.string(type)), Member("content", content)] }
    return JSONSyntax(.object(members))
  }

  private static func string(_ text: String) -> JSONSyntax { JSONSyntax(.string(text)) }
  private static func integer(_ number: Int) -> JSONSyntax { JSONSyntax(.integer(Int64(number))) }

  // MARK: Reading

  /// Reads a line.
  /// - Throws: `JSONError` with the column and what was expected there.
  package init(parsing line: String) throws(JSONError) {
    let whole = try JSONSyntax(parsing: line, numbers: .ofAnySize)
    guard let json = whole["message"], case .object = json.kind else {
      throw whole.error("Expected an object with a message.")
    }
    guard let time = Timestamp(rfc3339: try json.text("at")) else { throw json.error("Expected a time in \"at\".") }
    guard let event = TappedMessage.Event(rawValue: try json.text("event")) else {
      throw json.error("\"event\" is none that is known.")
    }
    (self.time, self.event) = (time, event)
    if event == .missed {
      (channel, number) = (.call, 0)
    } else {
      guard let channel = TappedMessage.Channel(rawValue: try json.text("stream")) else {
        throw json.error("\"stream\" is none that is known.")
      }
      self.channel = channel
      number = try json.integer("number") ?? 0
    }
    kind = json["kind"] == nil ? "" : try json.text("kind")
    targets = try json.list("targets") { element throws(JSONError) in try element.integerValue() }
    documents = try json.list("documents") { element throws(JSONError) in try element.textValue() }
    count = try json.integer("count") ?? 0
    tokenLength = try json.integer("token")
    byteCount = try json.integer("bytes")
    if let status = json["status"] {
      let code = try status.text("code")
      self.status = RPCStatus(StatusCode(name: code) ?? .unknown, try status.text("message"))
    }
    guard let content = json["content"] else { return }
    let type = try json.text("type")
    // A message that is not known could not be redacted either.
    guard Schema.streamed[type] != nil else { throw json.error("\"type\" is no message that is known.") }
    (self.type, self.content) = (type, content)
  }
}

extension JSONSyntax {
  fileprivate func text(_ name: String) throws(JSONError) -> String {
    guard let value = self[name] else { throw error("Expected \"\(name)\".") }
    return try value.textValue()
  }

  fileprivate func textValue() throws(JSONError) -> String {
    guard case .string(let text) = kind else { throw error("Expected a string, found \(kindName).") }
    return text
  }

  fileprivate func integerValue() throws(JSONError) -> Int {
    guard case .integer(let number) = kind, let number = Int(exactly: number) else {
      throw error("Expected an integer, found \(kindName).")
    }
    return number
  }

  fileprivate func integer(_ name: String) throws(JSONError) -> Int? { try self[name]?.integerValue() }

  fileprivate func list<Element>(
    _ name: String, _ element: (JSONSyntax) throws(JSONError) -> Element
  ) throws(JSONError) -> [Element] {
    guard let list = self[name] else { return [] }
    guard case .array(let items) = list.kind else { throw list.error("Expected an array, found \(list.kindName).") }
    var elements: [Element] = []
    for item in items { elements.append(try element(item)) }
    return elements
  }
}

extension StatusCode {
  fileprivate init?(name: String) {
    guard let code = StatusCode.allCases.first(where: { $0.name == name }) else {
      return nil
    }
    self = code
  }
}

extension MessageSchema {
  /// The name within google.firestore.v1.
  var shortName: String { String(name.split(separator: ".").last ?? "") }
}

extension Schema {
  /// The messages that are kept, by their names.
  static let streamed: [String: MessageSchema] = Dictionary(
    uniqueKeysWithValues: [
      listenRequest, listenResponse, writeRequest, writeResponse, commitRequest, commitResponse,
      batchGetDocumentsRequest, batchGetDocumentsResponse, runQueryRequest, runQueryResponse,
      runAggregationQueryRequest, aggregationResult, listCollectionIDsRequest, listCollectionIDsResponse,
      listDocumentsRequest,
    ].map { ($0.shortName, $0) })
}
