// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreGRPC
import FirestoreModel
import FirestoreTesting
import Foundation
import Testing

/// WebChannel over a socket: what is too much for one step.
@Suite struct WebChannelTests {
  private func ask(
    _ verb: String, _ method: String, _ query: String, _ messages: [String] = [], from offset: Int = 0,
    at server: FirestoreGRPC.Endpoint
  ) async throws -> String {
    let fields = messages.enumerated().map { index, message in
      "&req\(index)___data__=" + (message.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")
    }
    let body = verb == "GET" ? "" : "count=\(messages.count)&ofs=\(offset)\(fields.joined())"
    let answer = try await RawHTTP.exchange(
      "\(verb) /google.firestore.v1.Firestore/\(method)/channel?VER=8&\(query) HTTP/1.1\r\nHost: localhost\r\n"
        + "Connection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)", server)
    return try #require(RawHTTP.bodies(answer).first)
  }

  private func open(_ method: String, _ message: String, at server: FirestoreGRPC.Endpoint) async throws -> String {
    let greeting = try await ask("POST", method, "RID=1&CVER=22", [message], at: server)
    return String(try #require(greeting.split(separator: "\"").dropFirst(3).first))
  }

  /// The numbered messages of one frame.
  private func arrays(_ frame: String) throws -> [(number: Int, message: [String: Any])] {
    let text = frame.drop { $0 != "\n" }
    let arrays = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[Any]])
    return try arrays.map { array in
      (try #require(array.first as? Int), (array.last as? [Any])?.first as? [String: Any] ?? [:])
    }
  }

  @Test("A large batch of writes is applied, and what it wrote comes back in pieces, each asked for behind the last")
  func large() async throws {
    try await Server.run(try LocalBackend.inMemory()) { server in
      let count = 1_100
      let text = String(repeating: "é", count: 20)
      let writes = (0..<count).map { number in
        #"{"update":{"name":"\#(database.documentsName)/c/d\#(number)","fields":{"t":{"stringValue":"\#(text)"}}}}"#
      }
      let writer = try await open("Write", #"{"database":"\#(database.name)"}"#, at: server)
      let batch = #"{"streamToken":"AAAAAAAAAAA=","writes":[\#(writes.joined(separator: ","))]}"#
      let reply = try await ask("POST", "Write", "SID=\(writer)&RID=2&AID=0", [batch], from: 1, at: server)
      #expect(reply.contains("[0,2,"))
      let results = try arrays(
        try await ask("GET", "Write", "SID=\(writer)&RID=rpc&AID=1&CI=1&TYPE=xmlhttp", at: server))
      #expect((results.first?.message["writeResults"] as? [Any])?.count == count)

      let listener = try await open(
        "Listen",
        #"{"database":"\#(database.name)","addTarget":{"targetId":2,"query":{"parent":"\#(database.documentsName)","#
          + #""structuredQuery":{"from":[{"collectionId":"c"}]}}}}"#, at: server)
      var (last, requests, names, isCurrent) = (0, 0, Set<String>(), false)
      while !isCurrent, requests < 100 {
        requests += 1
        let query = "SID=\(listener)&RID=rpc&AID=\(last)&CI=1&TYPE=xmlhttp"
        for (number, message) in try arrays(try await ask("GET", "Listen", query, at: server)) {
          #expect(number == last + 1)
          last = number
          let document = (message["documentChange"] as? [String: Any])?["document"] as? [String: Any]
          if let name = document?["name"] as? String { names.insert(name) }
          let change = message["targetChange"] as? [String: Any]
          if change?["readTime"] != nil, change?["targetIds"] == nil { isCurrent = true }
        }
      }
      #expect(names.count == count && requests > 1)
    }
  }
}
