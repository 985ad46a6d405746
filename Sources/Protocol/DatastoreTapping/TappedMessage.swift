// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreProtoJSON
package import FirestoreProtocol

/// A message between a client and its datastore as it passed by, or the beginning or the end of a stream or call.
package struct TappedMessage: Sendable {
  /// The kind of the stream; a call is one request with one answer.
  package enum Channel: String, Sendable {
    case listen, write, commits, call
  }

  package enum Event: String, Sendable {
    /// A stream was asked for.
    case begun
    case sent, received
    /// A stream is over, or a call failed.
    case ended
    /// Messages passed by for which there was no room.
    case missed
  }

  /// The content as wire bytes of google.firestore.v1.
  package enum Content: Sendable {
    case none
    case one(MessageSchema, [UInt8])
    /// The messages of an answer that comes as a stream.
    case list(MessageSchema, [[UInt8]])
  }

  /// The largest content that is kept, in bytes; of a larger one its size is.
  package static let largestContent = 16 << 10
  /// The number of documents that are named.
  package static let mostDocuments = 50

  package var time: Timestamp
  package var channel: Channel
  /// The number of the stream or call in its session, from 1.
  package var number: Int
  package var event: Event
  /// The name of what it does, such as `addTarget` or `RunQuery`.
  package var kind = ""
  package var targets: [TargetID] = []
  /// The first documents that it is about.
  package private(set) var documents: [DocumentKey] = []
  /// The number of documents that it is about, or of missed messages.
  package var count = 0
  /// The length of its resume token or stream token, in bytes. The token itself is kept nowhere.
  package var tokenLength: Int?
  package var status: RPCStatus?
  /// The size in bytes, as it is or would be over gRPC; of answers that are not kept, that of their documents.
  package private(set) var byteCount: Int?
  package private(set) var content = Content.none

  package init(_ time: Timestamp, _ channel: Channel, _ number: Int, _ event: Event) {
    (self.time, self.channel, self.number, self.event) = (time, channel, number, event)
  }

  /// The memory that it takes, estimated in bytes.
  package var cost: Int {
    let names = documents.reduce(0) { $0 + $1.path.text.utf8.count + 32 }
    switch content {
    case .none: return 256 + names
    case .one(_, let bytes): return 256 + names + bytes.count
    case .list(_, let messages): return 256 + names + messages.reduce(0) { $0 + $1.count + 32 }
    }
  }

  mutating func note(_ keys: some Collection<DocumentKey>) {
    documents = Array(keys.prefix(Self.mostDocuments))
    count = keys.count
  }

  mutating func note(_ schema: MessageSchema, _ write: (inout WireWriter) -> Void) {
    let bytes = WireWriter.message(write)
    byteCount = bytes.count
    content = bytes.count <= Self.largestContent ? .one(schema, bytes) : .none
  }

  /// Notes an answer of several messages, one for each document.
  mutating func note(
    _ documents: [Document], _ schema: MessageSchema, _ write: (Document, inout WireWriter) -> Void
  ) {
    note(documents.lazy.map(\.key))
    let size = documents.reduce(0) { $0 + ($1.data?.encoded.bytes.count ?? 0) }
    byteCount = size
    guard size <= Self.largestContent else { return }
    let messages = documents.map { document in WireWriter.message { write(document, &$0) } }
    let whole = messages.reduce(0) { $0 + $1.count }
    byteCount = whole
    if whole <= Self.largestContent { content = .list(schema, messages) }
  }
}
