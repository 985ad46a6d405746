// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreProtocol
import NIOCore
import Synchronization

extension GRPCDatastore {
  package func watch(
    requests: StreamRequests<WatchRequest>, deliver: @Sendable (WatchEvent) async -> Void
  ) async throws(RPCStatus) {
    let end = await withoutActuallyEscaping(deliver) { deliver in await listen(requests, deliver) }
    try end.get()
    if Task.isCancelled { throw RPCStatus(.cancelled, "The watch stream was cancelled.") }
    throw RPCStatus(.unavailable, "\(endpoint.text) ended the watch stream.")
  }

  /// The maximum number of changes in one delivery. Changes that arrive while the engine is busy are delivered
  /// together, which makes large results cheaper. The limit lets the thread do other work between two deliveries.
  private static let mostChanges = 64

  private func listen(
    _ requests: StreamRequests<WatchRequest>, _ deliver: @escaping @Sendable (WatchEvent) async -> Void
  ) async -> Result<Void, RPCStatus> {
    let (database, names, meter) = (database, names, meter)
    let reader = AnswerReader(endpoint) { reader throws(WireError) in try reader.watchChange(names) }
    return await result(of: .listen) { stream in
      // The stream counts as open now, because backends send nothing before their first message.
      await deliver(.opened)
      try await stream.exchange(requests, counting: meter.watchSent) { request in
        WireWriter.message { $0.watchRequest(request, in: database) }
      } receive: {
        while let messages = try await stream.next() {
          for start in stride(from: 0, to: messages.count, by: Self.mostChanges) {
            if start > 0 { await Task.yield() }
            let part = messages[start..<min(start + Self.mostChanges, messages.count)]
            for message in part { meter.watchReceived.add(message.readableBytes) }
            var changes: [WatchChange] = []
            changes.reserveCapacity(part.count)
            let failure = reader.read(part) { change in if let change { changes.append(change) } }
            if Task.isCancelled { throw CancellationError() }
            // The messages before an unreadable one are delivered.
            if !changes.isEmpty { await deliver(.changes(changes)) }
            if let failure { throw failure }
          }
        }
      }
    }
  }

  package func write(
    requests: StreamRequests<WriteRequest>, deliver: @Sendable (WriteEvent) async -> Void
  ) async throws(RPCStatus) {
    let end = await withoutActuallyEscaping(deliver) { deliver in await send(requests, deliver) }
    try end.get()
    if Task.isCancelled { throw RPCStatus(.cancelled, "The write stream was cancelled.") }
  }

  private func send(
    _ requests: StreamRequests<WriteRequest>, _ deliver: @escaping @Sendable (WriteEvent) async -> Void
  ) async -> Result<Void, RPCStatus> {
    let (endpoint, database, meter) = (endpoint, database, meter)
    let reader = AnswerReader(endpoint) { reader throws(WireError) in try reader.writeResponse() }
    return await result(of: .write) { stream in
      let handshake = WireWriter.message { $0.writeHandshake(in: database) }
      try await stream.send(handshake)
      meter.writeSent.add(handshake.count)
      try await stream.exchange(requests, counting: meter.writeSent) { request in
        WireWriter.message { $0.writeRequest(request, in: database) }
      } receive: {
        // The first message is the response to the handshake, regardless of its content.
        var isOpen = false
        while let messages = try await stream.next() {
          for message in messages {
            meter.writeReceived.add(message.readableBytes)
            let answer = try reader(message)
            if !isOpen {
              isOpen = true
              await deliver(.opened(streamToken: answer.streamToken))
            } else if let commit = answer.commit {
              await deliver(.committed(streamToken: answer.streamToken, commit))
            } else {
              throw RPCStatus(.internal, "The response of \(endpoint.text) cannot be read: a commit has no time.")
            }
          }
        }
      }
    }
  }

  /// Runs one stream. Returns its error as a value instead of throwing it, so that the caller's next steps are not
  /// skipped.
  private func result(
    of method: CallMethod, _ body: (CallStream) async throws -> Void
  ) async -> Result<Void, RPCStatus> {
    do throws(RPCStatus) { return .success(try await call(method, nil, body)) } catch { return .failure(error) }
  }
}

extension CallStream {
  /// Sends requests while `receive` reads the responses. The exchange ends when `receive` ends.
  fileprivate func exchange<Request: Sendable>(
    _ requests: StreamRequests<Request>, counting meter: TrafficMeter.Direction,
    _ message: @escaping @Sendable (Request) -> [UInt8],
    receive: @escaping @Sendable () async throws -> Void
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        // A stream that has ended accepts no requests. Its response contains the reason.
        do {
          for await request in requests {
            let bytes = message(request)
            try await self.send(bytes)
            meter.add(bytes.count)
          }
        } catch {
          return
        }
        if !Task.isCancelled { self.finish() }
      }
      defer { group.cancelAll() }
      try await receive()
    }
  }
}

extension GRPCDatastore {
  package func followCommits(deliver: @Sendable (CommitUpdate) async -> Void) async throws(RPCStatus) {
    let request = WireWriter.message { $0.followRequest(in: database) }
    let reader = AnswerReader(endpoint) { reader throws(WireError) in try reader.commitNews() }
    try await call(.followCommits, request) { stream in
      while let messages = try await stream.next() {
        for message in messages { await deliver(try reader(message)) }
      }
    }
    throw RPCStatus(.unavailable, "\(endpoint.text) ended the stream of commit notifications.")
  }
}

/// Reads the messages of a response directly in the receive buffers, without copying them.
struct AnswerReader<Answer: Sendable>: Sendable {
  typealias Read = @Sendable (inout WireReader) throws(WireError) -> Answer

  private let endpoint: String
  private let read: Read

  /// Creates a reader.
  /// - Parameter endpoint: the endpoint to name in the error for an unreadable response.
  init(_ endpoint: Endpoint, _ read: @escaping Read) {
    self.endpoint = endpoint.text
    self.read = read
  }

  /// Reads a message.
  /// - Throws: `internal` if the message is invalid.
  func callAsFunction(_ message: ByteBuffer) throws(RPCStatus) -> Answer {
    let result: Result<Answer, WireError> = message.withUnsafeReadableBytes { buffer in
      var reader = WireReader(buffer)
      do throws(WireError) { return .success(try read(&reader)) } catch { return .failure(error) }
    }
    switch result {
    case .success(let answer): return answer
    case .failure(let error):
      throw RPCStatus(.internal, "The response of \(endpoint) cannot be read: \(error.reason).")
    }
  }

  /// Reads messages until one of them is unreadable.
  /// - Returns: the reason why a message is unreadable; `nil` if all messages are readable.
  func read(_ messages: ArraySlice<ByteBuffer>, _ take: (Answer) -> Void) -> RPCStatus? {
    do throws(RPCStatus) {
      for message in messages { take(try self(message)) }
      return nil
    } catch { return error }
  }
}

/// Counts the bytes of the streams' messages.
final class TrafficMeter: Sendable {
  /// The number of bytes before each message (gRPC over HTTP/2, "Length-Prefixed-Message").
  static let prefix = 5

  /// Counts the bytes of one kind of stream.
  final class Direction: Sendable {
    private let sum = Atomic<Int>(0)

    /// Counts a message of `count` bytes.
    func add(_ count: Int) { sum.wrappingAdd(count + TrafficMeter.prefix, ordering: .relaxed) }

    var total: Int { sum.load(ordering: .relaxed) }
  }

  let watchSent = Direction(), watchReceived = Direction(), writeSent = Direction(), writeReceived = Direction()

  var traffic: DatastoreTraffic {
    DatastoreTraffic(
      watch: DatastoreTraffic.Bytes(sent: watchSent.total, received: watchReceived.total),
      write: DatastoreTraffic.Bytes(sent: writeSent.total, received: writeReceived.total))
  }
}
