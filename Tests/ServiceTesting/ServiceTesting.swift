// SPDX-License-Identifier: Apache-2.0
package import FirestoreBackend
package import FirestoreModel
package import FirestoreService
import FirestoreTesting
import Synchronization

package let database = "projects/p/databases/(default)"
package let root = database + "/documents"

/// A service over an empty backend in memory whose clock ticks once per question.
package func makeService() throws -> FirestoreService {
  let configuration = BackendConfiguration(location: .memory, now: TestClock(tick: 1).now)
  return FirestoreService(backend: try LocalBackend(configuration))
}

package func bytes(_ write: (inout WireWriter) -> Void) -> [UInt8] {
  var writer = WireWriter()
  write(&writer)
  return writer.bytes
}

extension WireWriter {
  /// A `Write` that sets a document.
  package mutating func set(_ path: String, _ fields: Fields, as number: Int = 2) {
    field(number) { $0.field(1) { $0.document(path, fields) } }
  }

  package mutating func document(_ path: String, _ fields: Fields) {
    field(1, string: root + "/" + path)
    entries(2, fields)
  }

  /// A `StructuredQuery` on one collection.
  package mutating func query(_ number: Int, _ collection: String, _ more: (inout WireWriter) -> Void = { _ in }) {
    field(number) { writer in
      writer.field(2) { $0.field(2, string: collection) }
      more(&writer)
    }
  }
}

private enum ListenEvent {
  case request([UInt8])
  case wake
  case end
}

extension LocalBackend {
  /// Does something on the backend's executor.
  package func run<Result: Sendable>(_ body: @Sendable () throws -> Result) rethrows -> Result { try body() }
}

extension FirestoreService {
  /// Drives a Listen stream as a transport does, until the client has said its last or the stream fails.
  package func listen(_ requests: AsyncStream<[UInt8]>, to send: @Sendable ([[UInt8]]) -> Void) async throws {
    let (events, tell) = AsyncStream.makeStream(of: ListenEvent.self)
    let reading = Task {
      for await request in requests { tell.yield(.request(request)) }
      tell.yield(.end)
    }
    defer { reading.cancel() }
    var stream = ListenStream(self) { tell.yield(.wake) }
    let result: Result<Void, any Error>
    do {
      loop: for await event in events {
        let current = stream
        switch event {
        case .end: break loop
        case .wake:
          let (taken, (messages, hasMore)) = try await backend.run {
            var stream = current
            let delivery = try stream.take()
            return (stream, delivery)
          }
          stream = taken
          send(messages)
          if hasMore { tell.yield(.wake) }
        case .request(let bytes):
          let (received, result) = await backend.run {
            var stream = current
            let result = Result { try stream.receive(bytes) }
            return (stream, result)
          }
          stream = received
          try result.get()
        }
      }
      result = .success(())
    } catch { result = .failure(error) }
    let ended = stream
    await backend.run { ended.close() }
    try result.get()
  }

  package func set(_ path: String, _ fields: Fields) async throws(RPCStatus) {
    _ = try await answer(
      .commit,
      bytes { writer in
        writer.field(1, string: database)
        writer.set(path, fields)
      })
  }

  /// The one message of a response that has one.
  @discardableResult
  package func answer(_ method: Method, _ request: [UInt8]) async throws(RPCStatus) -> [UInt8] {
    let sent = Sent()
    do { try await answer(method, request) { sent.append(contentsOf: $0) } } catch {
      throw error as? RPCStatus ?? RPCStatus(.internal, "\(error)")
    }
    return sent.bytes.count == 1 ? sent.bytes[0] : []
  }

  /// All messages of a response stream.
  package func messages(_ method: Method, _ request: [UInt8]) async throws -> [Message] {
    let sent = Sent()
    try await answer(method, request) { sent.append(contentsOf: $0) }
    return try sent.messages
  }
}

/// What a service has sent, and a wait for more of it.
package final class Sent: Sendable {
  private let all = Mutex<[[UInt8]]>([])
  private let stream: AsyncStream<[UInt8]>
  private let continuation: AsyncStream<[UInt8]>.Continuation

  package init() { (stream, continuation) = AsyncStream.makeStream(of: [UInt8].self) }

  package func append(contentsOf messages: [[UInt8]]) {
    all.withLock { $0 += messages }
    for message in messages { continuation.yield(message) }
  }

  package var bytes: [[UInt8]] { all.withLock { $0 } }

  package var messages: [Message] {
    get throws { try bytes.map { try Message($0) } }
  }

  /// The next message that was not waited for yet.
  package func next() async throws -> Message {
    for await bytes in stream { return try Message(bytes) }
    throw RPCStatus(.cancelled, "The stream ended.")
  }
}

/// A message as its fields, whatever its type: what a test needs to look at an answer.
package struct Message {
  package private(set) var lengthDelimited: [Int: [[UInt8]]] = [:]
  package private(set) var integers: [Int: [Int64]] = [:]

  package init(_ bytes: [UInt8]) throws(WireError) {
    self = try WireReader.read(bytes) { reader throws(WireError) in
      var message = Message()
      while let tag = try reader.tag() {
        switch tag.type {
        case .lengthDelimited: message.lengthDelimited[tag.field, default: []].append(try reader.byteArray())
        case .varint: message.integers[tag.field, default: []].append(try reader.integer())
        default: try reader.skip(tag.type)
        }
      }
      return message
    }
  }

  private init() {}

  package subscript(number: Int) -> Message? { lengthDelimited[number]?.last.flatMap { try? Message($0) } }
  package func all(_ number: Int) -> [Message] { (lengthDelimited[number] ?? []).compactMap { try? Message($0) } }
  package func bytes(_ number: Int) -> [UInt8]? { lengthDelimited[number]?.last }
  package func text(_ number: Int) -> String? { bytes(number).map { String(decoding: $0, as: UTF8.self) } }
  package func texts(_ number: Int) -> [String] {
    (lengthDelimited[number] ?? []).map { String(decoding: $0, as: UTF8.self) }
  }
  package func integer(_ number: Int) -> Int64? { integers[number]?.last }
  package func has(_ number: Int) -> Bool { lengthDelimited[number] != nil || integers[number] != nil }
}

extension Message {
  /// As a `Document`: its path and fields.
  package var path: String { String((text(1) ?? "").dropFirst(root.count + 1)) }
  package var fields: Fields {
    Fields(
      all(2).compactMap { entry in
        guard let name = entry.text(1), let bytes = entry.bytes(2) else { return nil }
        let value = try? WireReader.read(bytes) { reader throws(WireError) in try reader.value() }
        return value.map { (name, $0) }
      })
  }
}
