// SPDX-License-Identifier: Apache-2.0
package import FirestoreJSON
package import FirestoreModel
package import FirestoreProtoJSON

/// An event in the communication between a client and a server of google.firestore.v1. It is reported by a proxy, or by
/// a `MessageTap` in the client.
///
/// The event's JSON form is a line of `hearth proxy --json`, and a message of a recording.
package struct ProtocolEvent: Sendable {
  package enum Kind: String, JSONFormed, Sendable {
    /// A stream or call begins.
    case opened
    case request, response
    /// A stream or call ends.
    case ended
    /// A fault is injected into a stream or call.
    case fault
    /// A client connects (`connected`) or disconnects (`disconnected`).
    case connected, disconnected
    /// Another event of a connection; the remark describes it.
    case connection
    /// The proxy accepts connections.
    case listening
    /// The faults of the proxy change. The event's remark describes the change.
    case faults
    /// Events were dropped because the queue was full.
    case missed
  }

  package enum Transport: String, JSONFormed, Sendable { case grpc, rest, webchannel, http }

  package var time: Timestamp
  package var kind: Kind
  /// The number of the client's connection to a proxy, from 1; `nil` for events that a client itself recorded.
  package var connection: Int?
  /// The number of the stream or call, from 1; `nil` for an event of a connection.
  package var stream: Int?
  /// The method, such as `Listen` or `Commit`.
  package var method: String
  package var transport: Transport?
  package var message: MessageSummary?
  package var status: RPCStatus?
  /// The HTTP status, if it adds information to the gRPC status.
  package var httpStatus: Int?
  /// The size in bytes of the message, or of all responses.
  package var bytes: Int?
  package var duration: Duration?
  /// The address of a connecting client, or the address on which a proxy listens.
  package var address: String?
  package var remark: String?

  package init(
    _ kind: Kind, at time: Timestamp, connection: Int? = nil, stream: Int? = nil, method: String = ""
  ) {
    (self.time, self.kind, self.connection, self.stream, self.method) = (time, kind, connection, stream, method)
  }

  /// - Parameter count: the number of dropped events.
  package init(missed count: Int, at time: Timestamp) {
    self.init(.missed, at: time)
    message = MessageSummary()
    message?.count = count
  }

  /// The estimated memory use of the event in bytes.
  package var cost: Int { 256 + (message?.cost ?? 0) }

  /// The type of the event's message, derived from the method; `nil` if unknown.
  package var schema: MessageSchema? {
    guard let schemas = Self.schemas[method] else { return nil }
    return switch kind {
    case .request: schemas.request
    case .response: schemas.response
    default: nil
    }
  }

  private static let schemas: [String: (request: MessageSchema, response: MessageSchema)] = [
    "Listen": (Schema.listenRequest, Schema.listenResponse), "Write": (Schema.writeRequest, Schema.writeResponse),
    "Commit": (Schema.commitRequest, Schema.commitResponse),
    "BatchWrite": (Schema.batchWriteRequest, Schema.batchWriteResponse),
    "BatchGetDocuments": (Schema.batchGetDocumentsRequest, Schema.batchGetDocumentsResponse),
    "RunQuery": (Schema.runQueryRequest, Schema.runQueryResponse),
    "RunAggregationQuery": (Schema.runAggregationQueryRequest, Schema.runAggregationQueryResponse),
    "ListDocuments": (Schema.listDocumentsRequest, Schema.listDocumentsResponse),
    "ListCollectionIds": (Schema.listCollectionIDsRequest, Schema.listCollectionIDsResponse),
  ]
}

/// The content of a message, as wire bytes or as protocol JSON. Each form can be converted to the other.
package struct MessageContent: Sendable {
  package enum Form: Sendable {
    case bytes([UInt8])
    /// The responses of a call whose reply is a stream.
    case list([[UInt8]])
    case json(JSONSyntax)
  }

  package var form: Form
  /// The type of the message; `nil` if unknown.
  package var schema: MessageSchema?

  package init(_ form: Form, _ schema: MessageSchema?) { (self.form, self.schema) = (form, schema) }

  /// The estimated memory use in bytes.
  var cost: Int {
    switch form {
    case .bytes(let bytes): bytes.count
    case .list(let messages): messages.reduce(0) { $0 + $1.count + 32 }
    case .json: 0
    }
  }

  /// The protocol JSON; `nil` if the message cannot be converted.
  package var json: JSONSyntax? {
    switch form {
    case .json(let json): json
    case .bytes(let bytes): json(of: bytes)
    case .list(let messages): JSONSyntax(.array(messages.compactMap(json)))
    }
  }

  /// The wire bytes; `nil` for a list, and for JSON that cannot be converted.
  package var bytes: [UInt8]? {
    switch form {
    case .bytes(let bytes): bytes
    case .list: nil
    case .json(let json): schema.flatMap { try? MessageReader.bytes(of: json, $0, .lenient) }
    }
  }

  private func json(of bytes: [UInt8]) -> JSONSyntax? {
    guard let schema, let text = try? MessageWriter.text(of: bytes, schema, isPretty: false) else { return nil }
    return try? JSONSyntax(parsing: String(decoding: text, as: UTF8.self), numbers: .ofAnySize)
  }
}

extension ProtocolEvent: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    let time = try form("at", it?.time)
    var event = ProtocolEvent(try form("event", it?.kind), at: time)
    event.connection = try form.optional("connection", it?.connection)
    event.stream = try form.optional("stream", it?.stream)
    event.method = try form.optionalWord("method", it?.method.nonEmpty) ?? ""
    event.transport = try form.optional("transport", it?.transport)
    if let it {
      if let message = it.message { try form.members(of: message) }
    } else {
      event.message = try form.members()
    }
    event.status = try form.optional("status", it?.status)
    event.httpStatus = try form.optional("httpStatus", it?.httpStatus)
    event.bytes = try form.optional("bytes", it?.bytes)
    event.duration = try form.optional("milliseconds", it?.duration)
    event.address = try form.optionalWord("address", it?.address)
    event.remark = try form.optionalText("remark", it?.remark)
    // Omits content of an unknown type if there is a redaction, because it cannot be redacted.
    let content = it?.message?.content.flatMap { content in
      form.context.redaction.map { MessageRedaction($0).redacted(content) } ?? content.json
    }
    let schema = event.schema
    if let json = form.optionalSyntax("content", content) {
      event.message?.content = MessageContent(.json(json), schema)
    }
    return event
  }
}

extension MessageSummary: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    var summary = MessageSummary()
    summary.kind = try form.optionalWord("kind", it?.kind.nonEmpty) ?? ""
    summary.targets = try form.optional("targets", it?.targets.nonEmpty) ?? []
    summary.collection = try form.optional("collection", it?.collection.map { ResourcePath($0) })?.text
    summary.isGroup = try form.optional("group", it?.isGroup == true ? true : nil) ?? false
    let documents = try form.optional("documents", it?.documents.nonEmpty?.map { ResourcePath($0) })
    summary.documents = documents?.map(\.text) ?? []
    summary.count = try form.optional("count", it.flatMap { $0.count > 0 ? $0.count : nil }) ?? 0
    summary.tokenLength = try form.optional("token", it?.tokenLength)
    summary.cause = try form.optional("cause", it?.cause)
    return summary
  }
}

extension Collection {
  fileprivate var nonEmpty: Self? { isEmpty ? nil : self }
}
