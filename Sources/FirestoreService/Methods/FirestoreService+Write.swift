// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import FirestoreProtocol

extension FirestoreService {
  /// Serves one Write stream (PROTOCOL §3.1): handshake, then one response per request, in order. The first failing
  /// batch ends the stream; those behind it are not applied.
  ///
  /// A stream can be resumed: the token counts the requests of the stream that were applied, so a client that names
  /// the stream and the last token it has received gets the answers of what it sends again instead of a second
  /// application. A request that names itself by the label `hearth-write`, as Hearth's client does, is applied once on
  /// whatever stream it comes. Clients that do neither are served at least once, as everywhere.
  package func write<Requests: AsyncSequence & Sendable>(
    _ requests: Requests, to send: Send
  ) async throws where Requests.Element == [UInt8] {
    var stream: WriteStream?
    for try await bytes in requests {
      let request = try WriteStreamRequest(bytes, database: stream?.database)
      guard var current = stream else {
        let opened = try WriteStream(opening: request)
        stream = opened
        try await send([message { $0.writeResponse(WriteResponse(streamID: opened.id, streamToken: opened.token)) }])
        continue
      }
      if request.mutations.isEmpty {
        // The client is closing.
        try await send([message { $0.writeResponse(WriteResponse(streamToken: current.token)) }])
        return
      }
      current.position += 1
      let outcome = try await backend.commit(
        request.mutations, in: current.database, request: request.id ?? current.requestID)
      let response = WriteResponse(streamToken: current.token, commit: outcome)
      try await send([message { $0.writeResponse(response, to: request.mutations) }])
      stream = current
    }
  }
}

/// One Write stream: its name, and how many of its requests have been answered.
struct WriteStream {
  let id: String
  let database: DatabaseID
  var position: Int64

  /// More than any stream lives to send.
  private static let mostRequests: Int64 = 1 << 62

  init(opening request: WriteStreamRequest) throws(RPCStatus) {
    func refused(_ message: String) -> RPCStatus { RPCStatus(.invalidArgument, message) }
    guard let database = request.database else {
      throw refused("'database' must be set on an initial write request.")
    }
    if !request.mutations.isEmpty { throw refused("'writes' must not be set on an initial write request.") }
    if request.streamID.isEmpty, !request.token.isEmpty {
      throw refused(
        "Resuming streams is not supported, 'stream_token' must not be set on an initial write request without "
          + "'stream_id'.")
    }
    self.database = database
    if request.streamID.isEmpty {
      id = Hexadecimal.text((0..<16).map { _ in UInt8.random(in: .min ... .max) })
      position = 0
      return
    }
    guard Hexadecimal.bytes(request.streamID)?.count == 16, request.token.count == 8 else {
      throw refused("The stream to resume is not one of this server's.")
    }
    id = request.streamID
    position = Int64(bitPattern: request.token.reduce(0) { $0 << 8 | UInt64($1) })
    guard (0..<Self.mostRequests).contains(position) else {
      throw refused("The stream to resume is not one of this server's.")
    }
  }

  var token: [UInt8] { withUnsafeBytes(of: position.bigEndian) { [UInt8]($0) } }

  /// Names the request at the current position for ever.
  var requestID: WriteRequestID {
    WriteRequestID(clientID: Array(id.utf8), batchID: BatchID(position), sender: .stream)
  }
}

/// A `WriteRequest`.
struct WriteStreamRequest {
  private(set) var database: DatabaseID?
  private(set) var streamID = ""
  private(set) var mutations: [Mutation] = []
  private(set) var token: [UInt8] = []
  /// What the client calls this request for ever.
  private(set) var id: WriteRequestID?

  /// - Parameter database: that of the stream, once it is open.
  init(_ bytes: [UInt8], database: DatabaseID?) throws(RPCStatus) {
    var (name, streamID, token, count) = ("", "", [UInt8](), 0)
    var id: WriteRequestID?
    try RequestReader.read(bytes) { reader throws(RPCStatus) in
      try reader.fields { number, field throws(RPCStatus) in
        switch number {
        case 1: name = try field.string() ?? name
        case 2: streamID = try field.string() ?? streamID
        case 3: count += 1
        case 4: token = try field.bytes() ?? token
        case 5:
          if let (key, value) = try field.label(), key == WriteRequestID.labelName { id = WriteRequestID(label: value) }
        default: break
        }
      }
    }
    self.id = id
    self.streamID = streamID
    self.token = token
    self.database = database
    if database == nil, !name.isEmpty { self.database = try ResourceName.database(name) }
    guard let writesTo = self.database, count > 0 else { return }
    var mutations: [Mutation] = []
    try RequestReader.read(bytes) { reader throws(RPCStatus) in
      try reader.fields { number, field throws(RPCStatus) in
        if number == 3, let mutation = try field.write(in: writesTo) { mutations.append(mutation) }
      }
    }
    self.mutations = mutations
  }
}

extension RequestField {
  /// An entry of a `map<string, string>`.
  fileprivate mutating func label() throws(RPCStatus) -> (key: String, value: String)? {
    try message { inner throws(RPCStatus) in
      var (key, value) = ("", "")
      try inner.fields { number, field throws(RPCStatus) in
        switch number {
        case 1: key = try field.string() ?? key
        case 2: value = try field.string() ?? value
        default: break
        }
      }
      return (key, value)
    }
  }
}
