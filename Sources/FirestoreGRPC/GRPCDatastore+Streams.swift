// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreProtocol
import GRPCCore

extension GRPCDatastore {
  package func watch(
    requests: StreamRequests<WatchRequest>, deliver: @Sendable (WatchEvent) async -> Void
  ) async throws(RPCStatus) {
    let end = await withoutActuallyEscaping(deliver) { deliver in
      // The closure's use ends with the gate, whatever becomes of the call.
      let gate = DeliveryGate(deliver)
      let end = await listen(requests) { await gate.pass($0) }
      await gate.close()
      return end
    }
    try end.get()
    if Task.isCancelled { throw RPCStatus(.cancelled, "The watch stream was cancelled.") }
    throw RPCStatus(.unavailable, "\(endpoint.text) ended the watch stream.")
  }

  private func listen(
    _ requests: StreamRequests<WatchRequest>, _ deliver: @escaping @Sendable (WatchEvent) async -> Void
  ) async -> Result<Void, RPCStatus> {
    let (endpoint, database, names) = (endpoint, database, names)
    return await result { client, metadata, options in
      // The producer runs once there is a connection; backends answer a stream's opening with its first message only.
      let request = StreamingClientRequest<[UInt8]>(metadata: metadata) { writer in
        await deliver(.opened)
        for await request in requests {
          try await writer.write(WireWriter.message { $0.watchRequest(request, in: database) })
        }
      }
      try await client.bidirectionalStreaming(
        request: request, descriptor: .listen, serializer: RequestBytes(),
        deserializer: AnswerReader(endpoint) { reader throws(WireError) in try reader.watchChange(names) },
        options: options
      ) { response in
        let inbox = WatchInbox()
        async let delivery: Void = inbox.deliverAll { await deliver(.changes($0)) }
        do {
          for try await change in response.messages {
            if let change { await inbox.put(change) }
          }
          inbox.finish()
          await delivery
        } catch {
          // What was said before the stream broke holds.
          inbox.finish()
          await delivery
          throw error
        }
      }
    }
  }

  package func write(
    requests: StreamRequests<WriteRequest>, deliver: @Sendable (WriteEvent) async -> Void
  ) async throws(RPCStatus) {
    let end = await withoutActuallyEscaping(deliver) { deliver in
      let gate = DeliveryGate(deliver)
      let end = await send(requests) { await gate.pass($0) }
      await gate.close()
      return end
    }
    try end.get()
    if Task.isCancelled { throw RPCStatus(.cancelled, "The write stream was cancelled.") }
  }

  private func send(
    _ requests: StreamRequests<WriteRequest>, _ deliver: @escaping @Sendable (WriteEvent) async -> Void
  ) async -> Result<Void, RPCStatus> {
    let (endpoint, database) = (endpoint, database)
    return await result { client, metadata, options in
      let request = StreamingClientRequest<[UInt8]>(metadata: metadata) { writer in
        try await writer.write(WireWriter.message { $0.writeHandshake(in: database) })
        for await request in requests {
          try await writer.write(WireWriter.message { $0.writeRequest(request, in: database) })
        }
      }
      try await client.bidirectionalStreaming(
        request: request, descriptor: .write, serializer: RequestBytes(),
        deserializer: AnswerReader(endpoint) { reader throws(WireError) in try reader.writeResponse() },
        options: options
      ) { response in
        // The first answers the handshake, whatever it holds.
        var isOpen = false
        for try await answer in response.messages {
          if !isOpen {
            isOpen = true
            await deliver(.opened(streamToken: answer.streamToken))
          } else if let commit = answer.commit {
            await deliver(.committed(streamToken: answer.streamToken, commit))
          } else {
            throw RPCStatus(.internal, "The answer of \(endpoint.text) cannot be read: a commit has no time.")
          }
        }
      }
    }
  }

  /// Runs one stream. Its end is a value, so that what follows it is not left out.
  private func result(
    _ body: @escaping @Sendable (Connection.Client, Metadata, CallOptions) async throws -> Void
  ) async -> Result<Void, RPCStatus> {
    do throws(RPCStatus) { return .success(try await call(body)) } catch { return .failure(error) }
  }
}
