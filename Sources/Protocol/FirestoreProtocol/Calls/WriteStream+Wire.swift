// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// A message from the client on a Write stream (PROTOCOL §3.1).
package struct WriteStreamMessage: Sendable {
  package var database = ""
  package var streamID = ""
  package var writes: [WriteMessage] = []
  package var streamToken: [UInt8] = []
  /// The id that the client gave this request. The client uses the same id when it resends the request.
  package var requestID: WriteRequestID?
}

/// A message from the server on a Write stream (PROTOCOL §3.1).
package struct WriteResponse: Sendable {
  /// The stream's id. Only the response to the handshake contains it.
  package var streamID: String
  package var streamToken: [UInt8]
  /// The response to a commit; `nil` in the response to the handshake, and in the response to the message that ends the
  /// stream.
  package var commit: CommitResponse?

  package init(streamID: String = "", streamToken: [UInt8], commit: CommitResponse? = nil) {
    self.streamID = streamID
    self.streamToken = streamToken
    self.commit = commit
  }
}

extension WireWriter {
  /// Writes the content of the `google.firestore.v1.WriteRequest` that opens a stream.
  package mutating func writeHandshake(in database: DatabaseID) { field(1, string: database.name) }

  /// Writes the content of a `google.firestore.v1.WriteRequest` on an open stream.
  package mutating func writeRequest(_ request: WriteRequest, in database: DatabaseID) {
    let names = DocumentNames(database)
    field(1, string: database.name)
    for mutation in request.mutations { field(3) { $0.mutation(mutation, names) } }
    if !request.streamToken.isEmpty { field(4, bytes: request.streamToken) }
    if let id = request.requestID { label(5, WriteRequestID.labelName, id.label) }
  }

  /// Writes an entry of a `map<string, string>`.
  mutating func label(_ number: Int, _ key: String, _ value: String) {
    field(number) { writer in
      writer.field(1, string: key)
      writer.field(2, string: value)
    }
  }

  /// Writes the content of a `google.firestore.v1.WriteResponse`.
  /// - Parameter mutations: the committed mutations; empty if the response is not about a commit.
  package mutating func writeResponse(_ response: WriteResponse, to mutations: [Mutation] = []) {
    if !response.streamID.isEmpty { field(1, string: response.streamID) }
    if !response.streamToken.isEmpty { field(2, bytes: response.streamToken) }
    guard let commit = response.commit else { return }
    for (mutation, result) in zip(mutations, commit.results) { writeResult(3, result, of: mutation) }
    field(4, timestamp: commit.commitTime.timestamp)
  }
}

extension WireReader {
  /// Reads the content of a `google.firestore.v1.WriteRequest`.
  package mutating func writeRequest() throws(WireError) -> WriteStreamMessage {
    var request = WriteStreamMessage()
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): request.database = try string()
      case (2, .lengthDelimited): request.streamID = try string()
      case (3, .lengthDelimited): request.writes.append(try writeMessage())
      case (4, .lengthDelimited): request.streamToken = try byteArray()
      case (5, .lengthDelimited):
        let label = try label()
        if label.key == WriteRequestID.labelName { request.requestID = WriteRequestID(label: label.value) }
      default: try skip(tag.type)
      }
    }
    return request
  }

  /// Reads an entry of a `map<string, string>`.
  private mutating func label() throws(WireError) -> (key: String, value: String) {
    var (key, value, reader) = ("", "", try message())
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): key = try reader.string()
      case (2, .lengthDelimited): value = try reader.string()
      default: try reader.skip(tag.type)
      }
    }
    return (key, value)
  }

  /// Reads the content of a `google.firestore.v1.WriteResponse`.
  package mutating func writeResponse() throws(WireError) -> WriteResponse {
    var response = WriteResponse(streamToken: [])
    var received = ReceivedCommit()
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): response.streamID = try string()
      case (2, .lengthDelimited): response.streamToken = try byteArray()
      case (3, .lengthDelimited): try received.append(try message())
      case (4, .lengthDelimited): received.commitTime = SnapshotVersion(try timestamp())
      default: try skip(tag.type)
      }
    }
    response.commit = received.response
    return response
  }
}

/// The form in which a google.firestore.v1 `WriteRequest` contains its id, which is a label. Backends that support the
/// label recognize repeated batches. Other backends ignore it.
extension WriteRequestID {
  package static let labelName = "hearth-write"

  /// The number of the field that contains the id in a `CommitRequest`, because this message has no labels. The field
  /// is not part of google.firestore.v1, so other backends skip it.
  static let commitField = 18_533

  /// The maximum length in bytes of a client's id. Caches create ids of 8 or 16 bytes.
  private static let longestClientID = 64

  /// Parses a label; `nil` if the label is not an id.
  /// - Parameter label: a text of the form `CLIENT-BATCH`, in which the client is hexadecimal.
  package init?(label: String, sender: Sender = .cache) {
    let parts = label.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0].utf8.count <= 2 * Self.longestClientID, let batch = Int64(parts[1]),
      let client = Hexadecimal.bytes(parts[0])
    else { return nil }
    self.init(clientID: client, batchID: BatchID(batch), sender: sender)
  }

  package var label: String { Hexadecimal.text(clientID) + "-\(batchID.rawValue)" }
}
