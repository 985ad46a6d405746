// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtoJSON

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
