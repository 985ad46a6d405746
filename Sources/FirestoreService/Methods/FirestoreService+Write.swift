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
      let request = try RequestReader.read(bytes) { reader throws(WireError) in try reader.writeRequest() }
      guard var current = stream else {
        let opened = try WriteStream(opening: request)
        stream = opened
        let response = WriteResponse(streamID: opened.id, streamToken: opened.token)
        try await send([WireWriter.message { $0.writeResponse(response) }])
        continue
      }
      if request.writes.isEmpty {
        // The client is closing.
        let response = WriteResponse(streamToken: current.token)
        return try await send([WireWriter.message { $0.writeResponse(response) }])
      }
      let database = current.database
      let mutations = try request.writes.map { write throws(RPCStatus) in try Mutation(request: write, in: database) }
      current.position += 1
      let outcome = try await backend.commit(
        mutations, in: database, request: request.requestID ?? current.requestID, check: access?.commits)
      let response = WriteResponse(streamToken: current.token, commit: outcome)
      try await send([WireWriter.message { $0.writeResponse(response, to: mutations) }])
      stream = current
    }
  }
}

/// One Write stream: its name, and how many of its requests have been answered.
private struct WriteStream {
  let id: String
  let database: DatabaseID
  var position: Int64

  /// More than any stream lives to send.
  private static let mostRequests: Int64 = 1 << 62

  init(opening request: WriteStreamMessage) throws(RPCStatus) {
    if request.database.isEmpty { throw .invalid("'database' must be set on an initial write request.") }
    database = try ResourceName.database(request.database)
    if !request.writes.isEmpty { throw .invalid("'writes' must not be set on an initial write request.") }
    if request.streamID.isEmpty, !request.streamToken.isEmpty {
      throw .invalid(
        "Resuming streams is not supported, 'stream_token' must not be set on an initial write request without "
          + "'stream_id'.")
    }
    if request.streamID.isEmpty {
      id = Hexadecimal.text((0..<16).map { _ in UInt8.random(in: .min ... .max) })
      position = 0
      return
    }
    guard Hexadecimal.bytes(request.streamID)?.count == 16, request.streamToken.count == 8 else {
      throw .invalid("The stream to resume is not one of this server's.")
    }
    id = request.streamID
    position = Int64(bitPattern: request.streamToken.reduce(0) { $0 << 8 | UInt64($1) })
    guard (0..<Self.mostRequests).contains(position) else {
      throw .invalid("The stream to resume is not one of this server's.")
    }
  }

  var token: [UInt8] { withUnsafeBytes(of: position.bigEndian) { [UInt8]($0) } }

  /// Names the request at the current position for ever.
  var requestID: WriteRequestID {
    WriteRequestID(clientID: Array(id.utf8), batchID: BatchID(position), sender: .stream)
  }
}
