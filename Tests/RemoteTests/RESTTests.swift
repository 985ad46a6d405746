// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreGRPC
import FirestoreModel
import FirestoreTesting
import Foundation
import Testing

/// REST over a socket, byte by byte.
@Suite struct RESTTests {
  private func request(_ verb: String, _ path: String, _ body: String = "", isLast: Bool = false) -> String {
    "\(verb) /v1/\(database.documentsName)\(path) HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(body.utf8.count)\r\n"
      + (isLast ? "Connection: close\r\n\r\n" : "\r\n") + body
  }

  @Test("A large commit and its chunked query share a connection with small requests")
  func whole() async throws {
    let long = String(repeating: "x", count: 2_000)
    let writes = (100..<400).map { number in
      #"{"update": {"name": "\#(database.documentsName)/c/d\#(number)", "fields": {"t": {"stringValue": "\#(long)"}}}}"#
    }
    let commit = #"{"writes": [\#(writes.joined(separator: ","))]}"#
    let query = #"{"structuredQuery": {"from": [{"collectionId": "c"}]}}"#
    try await Server.run(try LocalBackend.inMemory()) { server in
      let answers = try await RawHTTP.exchange(
        request("POST", ":commit", commit) + request("GET", "/c/d100") + request("POST", ":runQuery", query)
          + request("GET", "/c?pageSize=2", isLast: true), server)
      let objects = try RawHTTP.bodies(answers).map { try JSONSerialization.jsonObject(with: Data($0.utf8)) }
      #expect(objects.count == 4)
      let committed = objects.first as? [String: Any]
      #expect((committed?["writeResults"] as? [Any])?.count == 300)
      #expect((objects[1] as? [String: Any])?["name"] as? String == database.documentsName + "/c/d100")
      let found = (objects[2] as? [[String: Any]])?.compactMap { $0["document"] as? [String: Any] }
      #expect(found?.count == 300)
      #expect(found?.last?["name"] as? String == database.documentsName + "/c/d399")
      #expect(((objects[3] as? [String: Any])?["documents"] as? [Any])?.count == 2)
    }
  }

  @Test("Control paths work over HTTP/2, and unknown paths return help")
  func control() async throws {
    let backend = try LocalBackend.inMemory()
    try await Server.run(backend) { server in
      let connection = try await RawConnection(to: server)
      let requests = [
        ("PATCH", "/v1/\(database.documentsName)/c/a", "200"),
        ("DELETE", "/emulator/v1/\(database.documentsName)", "200"),
        ("POST", "/reset", "200"), ("GET", "/emulator/v1/projects/p:securityRules", "200"), ("GET", "/nothing", "404"),
        ("POST", "/nothing", "404"), ("GET", "/", "200"),
      ]
      var all: [RawConnection.Frame] = []
      for (index, (method, path, status)) in requests.enumerated() {
        let stream = UInt32(2 * index + 1)
        let head = [(":method", method), (":scheme", "http"), (":path", path), (":authority", "localhost")]
        try await connection.send(
          RawRequest.headers(head, stream: stream) + RawRequest.data(Array("{}".utf8), stream: stream))
        let frames = await connection.response(stream: stream)
        all += frames
        let said = try RawConnection.headers(in: all).last { $0.hasPrefix(":status: ") }
        #expect(said == ":status: \(status)", "\(method) \(path)")
        let body = String(
          decoding: frames.filter { $0.type == RawConnection.Frame.data }.flatMap(\.payload), as: UTF8.self)
        #expect(body.contains("Unknown request \(method) /nothing.") == (status == "404"))
      }
      let ids = try await backend.collectionIDs(below: .root, in: database)
      #expect(ids.isEmpty)
      try await connection.close()
    }
  }

  @Test("HTTP/2 serves REST and gRPC on one connection")
  func streams() async throws {
    try await Server.run(try LocalBackend.inMemory()) { server in
      let connection = try await RawConnection(to: server)
      let path = "/v1/\(database.documentsName):commit?prettyPrint=false"
      let headers = [
        (":method", "POST"), (":scheme", "http"), (":path", path), (":authority", "localhost"),
        ("content-type", "application/json"),
      ]
      try await connection.send(RawRequest.headers(headers) + RawRequest.data(Array("{}".utf8)))
      try await connection.send(
        RawRequest.headers(RawRequest.call("ListCollectionIds"), stream: 3)
          + RawRequest.data(RawRequest.message([]), stream: 3))
      var (body, ended) = ("", Set<UInt32>())
      for await frame in connection.frames {
        if frame.type == RawConnection.Frame.data, frame.stream == 1 {
          body += String(decoding: frame.payload, as: UTF8.self)
        }
        if frame.isLast { ended.insert(frame.stream) }
        if ended == [1, 3] { break }
      }
      #expect(body.hasPrefix(#"{"commitTime":""#))
      try await connection.close()
    }
  }

  @Test("A client that disconnects during a response does not affect others")
  func gone() async throws {
    let backend = try LocalBackend.inMemory()
    try await Server.run(backend) { server in
      for cut in [10, 60, 200] {
        try await RawRequest.send(
          Array(request("POST", ":runQuery", #"{"structuredQuery": {}}"#).utf8.prefix(cut)), to: server)
      }
      let answer = try await RawHTTP.exchange(request("GET", "/c/none", isLast: true), server)
      #expect(answer.hasPrefix("HTTP/1.1 404 Not Found\r\n"))
    }
  }
}
