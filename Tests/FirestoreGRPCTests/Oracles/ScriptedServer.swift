// SPDX-License-Identifier: Apache-2.0
import FirestoreGRPC
import FirestoreModel
import GRPCCore
import GRPCNIOTransportHTTP2Posix

/// A gRPC server on a free port of the loopback device whose methods are closures over bytes.
struct ScriptedServer: RegistrableRPCService {
  typealias Handler =
    @Sendable (
      _ metadata: Metadata, _ requests: RPCAsyncSequence<[UInt8], any Error>, _ send: RPCWriter<[UInt8]>
    ) async throws -> Void

  private var handlers: [(MethodDescriptor, Handler)] = []

  mutating func handle(_ method: CallMethod, _ handler: @escaping Handler) {
    handlers.append((MethodDescriptor(fullyQualifiedService: CallMethod.service, method: method.rawValue), handler))
  }

  func registerMethods<Transport: ServerTransport>(with router: inout RPCRouter<Transport>) {
    for (method, handler) in handlers {
      router.registerHandler(
        forMethod: method,
        deserializer: RawBytes(), serializer: RawBytes()
      ) { request, _ in
        StreamingServerResponse { writer in
          try await handler(request.metadata, request.messages, writer)
          return [:]
        }
      }
    }
  }

  /// Serves while `body` runs.
  func run(
    port: Int = 0, _ body: @escaping @Sendable (FirestoreGRPC.Endpoint) async throws -> Void
  ) async throws {
    let transport = HTTP2ServerTransport.Posix(
      address: .ipv4(host: "127.0.0.1", port: port), transportSecurity: .plaintext)
    try await withGRPCServer(transport: transport, services: [self]) { server in
      let address = try await server.listeningAddress
      guard let port = address?.ipv4?.port else { throw RPCStatus(.internal, "The server has no port.") }
      try await body(FirestoreGRPC.Endpoint(host: "127.0.0.1", port: port, security: .plaintext))
    }
  }
}

/// Messages as they are.
private struct RawBytes: MessageSerializer, MessageDeserializer {
  func serialize<Bytes: GRPCContiguousBytes>(_ message: [UInt8]) throws -> Bytes { Bytes(message) }
  func deserialize<Bytes: GRPCContiguousBytes>(_ bytes: Bytes) throws -> [UInt8] { bytes.withUnsafeBytes { Array($0) } }
}

extension RPCError {
  /// What ends a call with this code.
  init(_ code: StatusCode, _ message: String) {
    self.init(code: Status.Code(rawValue: code.rawValue).flatMap { Code($0) } ?? .unknown, message: message)
  }
}
