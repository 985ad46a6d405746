// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
package import FirestoreService
package import GRPCCore

/// The service's methods on a gRPC server, but Listen, which has a handler of its own. What is not registered, such as
/// pipelines, answers `unimplemented`.
package struct FirestoreGRPCService: RegistrableRPCService {
  private static let name = "google.firestore.v1.Firestore"

  private let service: FirestoreService

  package init(_ service: FirestoreService) { self.service = service }

  package func registerMethods<Transport: ServerTransport>(with router: inout RPCRouter<Transport>) {
    for method in FirestoreService.UnaryMethod.allCases {
      register(method.rawValue, .unary, with: &router) { service, requests, _ in
        let answer = try await service.answer(method, try await Self.single(requests))
        return StreamingServerResponse(single: ServerResponse(message: answer))
      }
    }
    for method in FirestoreService.StreamingMethod.allCases {
      register(method.rawValue, .serverStreaming, with: &router) { service, requests, _ in
        let request = try await Self.single(requests)
        return Self.streaming { send in try await service.stream(method, request, to: send) }
      }
    }
    register("Write", .bidirectionalStreaming, with: &router) { service, requests, end in
      Self.streaming(until: end) { send in try await service.write(requests, to: send) }
    }
  }

  private typealias Requests = RPCAsyncSequence<[UInt8], any Error>
  private typealias Response = StreamingServerResponse<[UInt8]>
  private typealias End = ServerContext.RPCCancellationHandle

  /// - Parameter type: lets the transport send the parts of a single answer together.
  private func register<Transport: ServerTransport>(
    _ method: String, _ type: MethodDescriptor.RPCType, with router: inout RPCRouter<Transport>,
    _ serve: @escaping @Sendable (FirestoreService, Requests, End) async throws -> Response
  ) {
    let service = service
    router.registerHandler(
      forMethod: MethodDescriptor(fullyQualifiedService: Self.name, method: method, type: type),
      deserializer: RawDeserializer(), serializer: RawSerializer()
    ) { request, context in
      do {
        return try await serve(service, request.messages, context.cancellation)
      } catch let status as RPCStatus { throw RPCError(status) }
    }
  }

  /// - Parameter end: comes when the server shuts down (or the client is gone): streams do not end by themselves.
  private static func streaming(
    until end: End, _ body: @escaping @Sendable (@escaping FirestoreService.Send) async throws -> Void
  ) -> Response {
    streaming { send in
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await body(send) }
        group.addTask {
          try await end.cancelled
          throw RPCStatus(.unavailable, "The server is shutting down.")
        }
        defer { group.cancelAll() }
        try await group.next()
      }
    }
  }

  private static func streaming(
    _ body: @escaping @Sendable (@escaping FirestoreService.Send) async throws -> Void
  ) -> Response {
    StreamingServerResponse { writer in
      do {
        try await body { try await writer.write(contentsOf: $0) }
        return [:]
      } catch let status as RPCStatus { throw RPCError(status) }
    }
  }

  /// The one message of a request that has one.
  private static func single(_ requests: Requests) async throws -> [UInt8] {
    var iterator = requests.makeAsyncIterator()
    guard let message = try await iterator.next() else {
      throw RPCStatus(.invalidArgument, "The request has no message.")
    }
    // Answering before the client has closed its side would have it reset the stream; a connection with many resets is
    // taken for an attack.
    guard try await iterator.next() == nil else {
      throw RPCStatus(.invalidArgument, "The request has more than one message.")
    }
    return message
  }
}

extension RPCError {
  init(_ status: RPCStatus) {
    let code = Status.Code(rawValue: status.code.rawValue).flatMap { RPCError.Code($0) } ?? .unknown
    self.init(code: code, message: status.message)
  }
}
