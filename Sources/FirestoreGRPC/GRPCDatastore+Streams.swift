// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreRemote
import FirestoreWire
import Foundation
import GRPCCore
import GRPCProtobuf
import SwiftProtobuf

extension GRPCDatastore {
  package func watch(
    requests: StreamRequests<WatchRequest>, deliver: @Sendable (WatchEvent) async -> Void
  ) async throws(RPCStatus) {
    // The call's tasks end with it, and the closure's use with them.
    try await withoutActuallyEscaping(deliver) { deliver async throws(RPCStatus) in
      try await listen(requests, deliver)
    }
    if Task.isCancelled { throw RPCStatus(.cancelled, "The watch stream was cancelled.") }
    throw RPCStatus(.unavailable, "\(endpoint.text) ended the watch stream.")
  }

  private func listen(
    _ requests: StreamRequests<WatchRequest>, _ deliver: @escaping @Sendable (WatchEvent) async -> Void
  ) async throws(RPCStatus) {
    let (database, names) = (database, names)
    try await call { client, metadata, options in
      // The producer runs once there is a connection; backends answer a stream's opening with its first message only.
      let request = StreamingClientRequest<Wire.ListenRequest>(metadata: metadata) { writer in
        await deliver(.opened)
        for await request in requests { try await writer.write(request.message(in: database)) }
      }
      try await client.bidirectionalStreaming(
        request: request, descriptor: Wire.Method.Listen.descriptor, serializer: ProtobufSerializer(),
        deserializer: WireDecoder { reader throws(WireError) in try reader.watchChange(names) }, options: options
      ) { response in
        for try await change in response.messages {
          if let change { await deliver(.change(change)) }
        }
      }
    }
  }

  package func write(
    requests: StreamRequests<FirestoreRemote.WriteRequest>, deliver: @Sendable (WriteEvent) async -> Void
  ) async throws(RPCStatus) {
    try await withoutActuallyEscaping(deliver) { deliver async throws(RPCStatus) in
      try await send(requests, deliver)
    }
    if Task.isCancelled { throw RPCStatus(.cancelled, "The write stream was cancelled.") }
  }

  private func send(
    _ requests: StreamRequests<FirestoreRemote.WriteRequest>,
    _ deliver: @escaping @Sendable (WriteEvent) async -> Void
  ) async throws(RPCStatus) {
    let database = database
    try await call { client, metadata, options in
      let request = StreamingClientRequest<Wire.WriteRequest>(metadata: metadata) { writer in
        try await writer.write(.with { $0.database = database.name })
        for await request in requests { try await writer.write(request.message(in: database)) }
      }
      try await client.bidirectionalStreaming(
        request: request, descriptor: Wire.Method.Write.descriptor, serializer: ProtobufSerializer(),
        deserializer: ProtobufDeserializer<Wire.WriteResponse>(), options: options
      ) { response in
        var isOpen = false
        for try await message in response.messages {
          let token = [UInt8](message.streamToken)
          if isOpen {
            await deliver(.committed(streamToken: token, try message.commitResponse))
          } else {
            isOpen = true
            await deliver(.opened(streamToken: token))
          }
        }
      }
    }
  }
}

extension Wire.WriteResponse {
  fileprivate var commitResponse: FirestoreRemote.CommitResponse {
    get throws {
      try FirestoreRemote.CommitResponse(.with { ($0.commitTime, $0.writeResults) = (commitTime, writeResults) })
    }
  }
}
