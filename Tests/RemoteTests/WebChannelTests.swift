// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreGRPC
import FirestoreModel
import FirestoreTesting
import Foundation
import Testing

/// WebChannel over a socket: what is too much for one step.
@Suite struct WebChannelTests {
  @Test("A large batch is applied and returned in parts, each on a new request")
  func large() async throws {
    try await Server.run(try LocalBackend.inMemory()) { server in
      let count = 1_100
      let text = String(repeating: "é", count: 20)
      let writes = (0..<count).map { number in
        #"{"update":{"name":"\#(database.documentsName)/c/d\#(number)","fields":{"t":{"stringValue":"\#(text)"}}}}"#
      }
      let writer = try await ChannelCaller.open("Write", #"{"database":"\#(database.name)"}"#, at: server)
      let batch = #"{"streamToken":"AAAAAAAAAAA=","writes":[\#(writes.joined(separator: ","))]}"#
      let reply = try await ChannelCaller.ask(
        "POST", "Write", "SID=\(writer)&RID=2&AID=0", [batch], from: 1, at: server)
      #expect(reply.contains("[0,2,"))
      let results = try ChannelCaller.arrays(
        try await ChannelCaller.ask("GET", "Write", "SID=\(writer)&RID=rpc&AID=1&CI=1&TYPE=xmlhttp", at: server))
      #expect((results.first?.message["writeResults"] as? [Any])?.count == count)

      let listener = try await ChannelCaller.open(
        "Listen",
        #"{"database":"\#(database.name)","addTarget":{"targetId":2,"query":{"parent":"\#(database.documentsName)","#
          + #""structuredQuery":{"from":[{"collectionId":"c"}]}}}}"#, at: server)
      var (last, requests, names, isCurrent) = (0, 0, Set<String>(), false)
      while !isCurrent, requests < 100 {
        requests += 1
        let query = "SID=\(listener)&RID=rpc&AID=\(last)&CI=1&TYPE=xmlhttp"
        for (number, message) in try ChannelCaller.arrays(
          try await ChannelCaller.ask("GET", "Listen", query, at: server))
        {
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
