// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
package import FirestoreService
package import GRPCCore

/// The service's methods on a gRPC server. What is not registered, such as pipelines, answers `unimplemented`.
package struct FirestoreGRPCService: RegistrableRPCService {
  private static let name = "google.firestore.v1.Firestore"

  private let service: FirestoreService

  package init(_ service: FirestoreService) { self.service = service }

  package func registerMethods<Transport: ServerTransport>(with router: inout RPCRouter<Transport>) {
    for method in FirestoreService.UnaryMethod.allCases {
      register(method.rawValue, with: &router) { service, requests, send in
        try await send(try await service.answer(method, try await Self.single(requests)))
      }
    }
    for method in FirestoreService.StreamingMethod.allCases {
      register(method.rawValue, with: &router) { service, requests, send in
        try await service.stream(method, try await Self.single(requests), to: send)
      }
    }
    register("Listen", with: &router) { service, requests, send in
      try await service.listen(requests, to: send)
    }
    register("Write", with: &router) { service, requests, send in
      try await service.write(requests, to: send)
    }
  }

  private typealias Requests = RPCAsyncSequence<[UInt8], any Error>

  private func register<Transport: ServerTransport>(
    _ method: String, with router: inout RPCRouter<Transport>,
    _ serve: @escaping @Sendable (FirestoreService, Requests, @escaping FirestoreService.Send) async throws -> Void
  ) {
    let service = service
    router.registerHandler(
      forMethod: MethodDescriptor(fullyQualifiedService: Self.name, method: method), deserializer: RawDeserializer(),
      serializer: RawSerializer()
    ) { request, _ in
      StreamingServerResponse { writer in
        do {
          try await serve(service, request.messages) { try await writer.write($0) }
          return [:]
        } catch let status as RPCStatus { throw RPCError(status) }
      }
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
