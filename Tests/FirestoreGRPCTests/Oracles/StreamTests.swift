// SPDX-License-Identifier: Apache-2.0
import ClientTesting
import FirestoreGRPC
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import Foundation
import GRPCCore
import SwiftProtobuf
import Testing
import WireOracle

@Suite("gRPC streams", .timeLimit(.minutes(10)))
struct StreamTests {
  private let names = DocumentNames(Samples.database)

  private func bytes(_ change: WatchChange) -> [UInt8] {
    var writer = WireWriter()
    writer.watchChange(change, names)
    return writer.bytes
  }

  @Test("A watch stream opens, sends requests and delivers events in order")
  func watch() async throws {
    var server = ScriptedServer()
    let (added, document, snapshot) = (
      bytes(.added([TargetID(2)])), bytes(.document(Samples.document, updated: [TargetID(2)], removed: [])),
      bytes(.snapshot(Samples.version, ResumeToken([1])))
    )
    server.handle(.listen) { metadata, requests, send in
      #expect(Array(metadata[stringValues: "google-cloud-resource-prefix"]) == [Samples.database.name])
      #expect(Array(metadata[stringValues: "authorization"]) == ["Bearer owner"])
      for try await request in requests {
        let message = try Wire.ListenRequest(serializedBytes: request)
        #expect(message.database == Samples.database.name)
        #expect(message.addTarget.targetID == 2)
        // An unknown kind of message between the known ones.
        for answer in [added, [0x7a, 0x00], document, snapshot] { try await send.write(answer) }
        return
      }
    }
    try await server.run { endpoint in
      let datastore = GRPCDatastore(endpoint, database: Samples.database, credentials: .emulatorOwner)
      let outgoing = Outgoing(WatchRequest.add(WatchTarget(id: TargetID(2), target: Samples.query.target)))
      let events = Recorder<WatchEvent>()
      let status = await #expect(throws: RPCStatus.self) {
        try await datastore.watch(requests: outgoing.requests) { await events.append($0) }
      }
      #expect(status?.code == .unavailable)
      let seen = await events.all.flatMap { event in
        guard case .changes(let changes) = event else { return ["opened"] }
        return changes.map { change in
          switch change {
          case .added(let ids): "added \(ids)"
          case .document(let document, let updated, _): "\(document.key) \(updated)"
          case .snapshot(let version, _): "snapshot \(version.microseconds)"
          default: "other"
          }
        }
      }
      #expect(seen == ["opened", "added [2]", "cities/SF [2]", "snapshot \(Samples.version.microseconds)"])
      await datastore.close()
    }
  }

  @Test("A canceled stream ends while the server is silent and delivers nothing more")
  func cancellation() async throws {
    var server = ScriptedServer()
    server.handle(.listen) { _, requests, _ in for try await _ in requests {} }
    try await server.run { endpoint in
      let datastore = GRPCDatastore(endpoint, database: Samples.database, credentials: .emulatorOwner)
      let outgoing = Outgoing<WatchRequest>()
      let opened = Gate()
      let stream = Task {
        try await datastore.watch(requests: outgoing.requests) { _ in await opened.open() }
      }
      await opened.wait()
      stream.cancel()
      let status = await #expect(throws: RPCStatus.self) { try await stream.value }
      #expect(status?.code == .cancelled)
      await datastore.close()
    }
  }

  @Test("A write stream sends a handshake, then each request with the newest token")
  func write() async throws {
    var server = ScriptedServer()
    server.handle(.write) { _, requests, send in
      var count: UInt8 = 0
      for try await request in requests {
        let message = try Wire.WriteRequest(serializedBytes: request)
        var answer = Wire.WriteResponse()
        count += 1
        answer.streamToken = Data([count])
        if count == 1 {
          #expect(message.database == Samples.database.name)
          #expect(message.writes.isEmpty)
          answer.streamID = "7"
        } else {
          #expect(message.streamToken == Data([count - 1]))
          #expect(message.labels == ["hearth-write": "0a-4"])
          answer.commitTime = Samples.version.message
          answer.writeResults = [.with { $0.transformResults = [Value.integer(5).message] }]
        }
        try await send.write(try answer.serializedBytes())
      }
    }
    try await server.run { endpoint in
      let datastore = GRPCDatastore(endpoint, database: Samples.database, credentials: .emulatorOwner)
      let outgoing = Outgoing<WriteRequest>()
      let mutation = Mutation(key: Samples.key, operation: .delete)
      let results = Recorder<MutationResult>()
      try await datastore.write(requests: outgoing.requests) { event in
        switch event {
        case .opened(let token):
          let id = WriteRequestID(clientID: [10], batchID: BatchID(4))
          outgoing.send(WriteRequest(streamToken: token, mutations: [mutation], requestID: id))
        case .committed(let token, let response):
          #expect(token == [2])
          for result in response.results { await results.append(result) }
          outgoing.finish()
        }
      }
      let all = await results.all
      #expect(all.map(\.version) == [Samples.version])
      #expect(all.map(\.transformResults) == [[.integer(5)]])
      await datastore.close()
    }
  }

  @Test(
    "Every status code that ends a stream arrives with its message",
    arguments: StatusCode.allCases.filter { $0 != .ok })
  func codes(_ code: StatusCode) async throws {
    var server = ScriptedServer()
    server.handle(.listen) { _, _, _ in throw RPCError(code, "because 100 % of ü") }
    try await server.run { endpoint in
      let datastore = GRPCDatastore(endpoint, database: Samples.database, credentials: .emulatorOwner)
      let outgoing = Outgoing<WatchRequest>()
      let status = await #expect(throws: RPCStatus.self) {
        try await datastore.watch(requests: outgoing.requests) { _ in }
      }
      #expect(status?.code == code)
      #expect(status?.message.contains("because 100 % of ü") == true)
      await datastore.close()
    }
  }

  @Test("An unreadable message ends the stream with internal")
  func malformed() async throws {
    var server = ScriptedServer()
    server.handle(.listen) { _, requests, send in
      try await send.write([0x1a, 0x7f, 0x00])
      for try await _ in requests {}
    }
    try await server.run { endpoint in
      let datastore = GRPCDatastore(endpoint, database: Samples.database, credentials: .emulatorOwner)
      let outgoing = Outgoing<WatchRequest>()
      let status = await #expect(throws: RPCStatus.self) {
        try await datastore.watch(requests: outgoing.requests) { _ in }
      }
      #expect(status?.code == .internal)
      #expect(status?.message.contains(endpoint.text) == true)
      await datastore.close()
    }
  }

  @Test("An unexpected write stream response ends the stream with internal")
  func timelessCommit() async throws {
    var server = ScriptedServer()
    server.handle(.write) { _, requests, send in
      for try await _ in requests {
        try await send.write(Wire.WriteResponse.with { $0.streamToken = Data([1]) }.serializedBytes())
      }
    }
    try await server.run { endpoint in
      let datastore = GRPCDatastore(endpoint, database: Samples.database, credentials: .emulatorOwner)
      let outgoing = Outgoing(
        WriteRequest(streamToken: [1], mutations: [Mutation(key: Samples.key, operation: .delete)]))
      let status = await #expect(throws: RPCStatus.self) {
        try await datastore.write(requests: outgoing.requests) { _ in }
      }
      #expect(status?.code == .internal)
      #expect(status?.message.contains(endpoint.text) == true)
      await datastore.close()
    }
  }

  @Test("A dead connection is detected")
  func halfOpen() async throws {
    var server = ScriptedServer()
    let added = bytes(.added([TargetID(2)]))
    server.handle(.listen) { _, requests, send in
      try await send.write(added)
      for try await _ in requests {}
    }
    try await server.run { endpoint in
      let proxy = try await Proxy(to: endpoint)
      let datastore = GRPCDatastore(
        proxy.endpoint, database: Samples.database, credentials: .emulatorOwner,
        keepalive: (time: .milliseconds(100), timeout: .milliseconds(100)))
      let outgoing = Outgoing<WatchRequest>()
      let status = await #expect(throws: RPCStatus.self) {
        try await datastore.watch(requests: outgoing.requests) { event in
          if case .changes = event { proxy.goDead() }
        }
      }
      #expect(status?.code == .unavailable)
      await datastore.close()
      try await proxy.close()
    }
  }
}
