// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import FirestoreProtoJSON
import Glibc

/// An event of a stream or a call on its way through the proxy.
package struct TrafficEvent: Sendable {
  package enum Kind: String, Sendable {
    case opened, request, answer, ended, fault
    /// A client has come, and spoken; it has gone.
    case connected, disconnected
    /// A thing to know about a connection.
    case connection
  }

  package var time: Timestamp
  package var kind: Kind
  /// The number of the client's connection, from 1.
  package var connection: Int
  /// The number of the stream or call in the proxy, from 1; `nil` for what is about a connection.
  package var stream: Int?
  /// The method, such as `Listen` or `Commit`.
  package var method = ""
  /// The way in which it is spoken.
  package var transport: Transport?
  /// The account of a message.
  package var message: MessageAccount?
  package var status: RPCStatus?
  /// The status of HTTP, where that says more.
  package var httpStatus: Int?
  package var bytes: Int?
  package var duration: Duration?
  /// The client's address, of one that has come.
  package var peer: String?
  /// Anything else to say; of a client that has come the protocol that it speaks.
  package var remark: String?

  package enum Transport: String, Sendable { case grpc, rest, webchannel, http }

  package init(_ kind: Kind, connection: Int, stream: Int? = nil) {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    time = Timestamp(microseconds: Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1000)
    (self.kind, self.connection, self.stream) = (kind, connection, stream)
  }
}

extension TrafficEvent {
  /// - Parameter values: whether the message is told with its contents, if all of it is known.
  init(
    _ kind: Kind, _ message: MessageCounter.Message, of method: ProxiedMethod, connection: Int, _ stream: Int,
    values: Bool
  ) {
    self.init(kind, connection: connection, stream: stream)
    (self.method, transport, bytes) = (method.name, .grpc, message.size)
    if message.isCompressed {
      remark = "compressed"
      return
    }
    var account = MessageAccount(method, message.content, isRequest: kind == .request)
    if values, message.isWhole, let schemas = Self.schemas[method.name] {
      let schema = kind == .request ? schemas.request : schemas.answer
      // A message that the tables cannot read is told by its size.
      account.content = (try? MessageWriter.text(of: message.content, schema, isPretty: false)).map {
        String(decoding: $0, as: UTF8.self)
      }
    }
    self.message = account
  }

  private static let schemas: [String: (request: MessageSchema, answer: MessageSchema)] = [
    "Listen": (Schema.listenRequest, Schema.listenResponse), "Write": (Schema.writeRequest, Schema.writeResponse),
    "Commit": (Schema.commitRequest, Schema.commitResponse),
    "BatchGetDocuments": (Schema.batchGetDocumentsRequest, Schema.batchGetDocumentsResponse),
    "RunQuery": (Schema.runQueryRequest, Schema.runQueryResponse),
    "RunAggregationQuery": (Schema.runAggregationQueryRequest, Schema.runAggregationQueryResponse),
    "ListDocuments": (Schema.listDocumentsRequest, Schema.listDocumentsResponse),
    "ListCollectionIds": (Schema.listCollectionIDsRequest, Schema.listCollectionIDsResponse),
  ]
}
