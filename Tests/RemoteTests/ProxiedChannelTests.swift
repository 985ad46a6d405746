// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreClientState
import FirestoreModel
import FirestoreTesting
import NIOCore
import Testing

@testable import FirestoreProxy

/// Refusals over WebChannel, which come with their codes, in sessions that go on.
@Suite(.timeLimit(.minutes(10))) struct ProxiedChannelTests {
  private static let listener = "RID=rpc&CI=1&TYPE=xmlhttp"

  private func target(_ number: Int) -> String {
    #"{"database":"\#(database.name)","addTarget":{"targetId":\#(number),"query":{"parent":"\#(database.documentsName)","#
      + #""structuredQuery":{"from":[{"collectionId":"c"}]}}}}"#
  }

  @Test("A rejected listener ends with its code, and the session accepts the next one")
  func refusedListener() async throws {
    try await Server.run(try LocalBackend.inMemory()) { server in
      try await Proxied.run(to: server) { proxy in
        try await proxy.perform(.event(.listen(.permissionDenied)))
        let id = try await ChannelCaller.open("Listen", target(2), at: proxy.endpoint)
        let refusal = try ChannelCaller.arrays(
          try await ChannelCaller.ask("GET", "Listen", "SID=\(id)&AID=0&\(Self.listener)", at: proxy.endpoint))
        let change = try #require(refusal.first?.message["targetChange"] as? [String: Any])
        #expect(refusal.count == 1 && refusal[0].number == 1)
        #expect(change["targetChangeType"] as? String == "REMOVE" && change["targetIds"] as? [Int] == [2])
        #expect((change["cause"] as? [String: Any])?["code"] as? Int == StatusCode.permissionDenied.rawValue)

        _ = try await ChannelCaller.ask(
          "POST", "Listen", "SID=\(id)&RID=2&AID=1", [target(4)], from: 1, at: proxy.endpoint)
        var (last, states) = (1, [String]())
        while !states.contains("CURRENT") {
          let query = "SID=\(id)&AID=\(last)&\(Self.listener)"
          for (number, message) in try ChannelCaller.arrays(
            try await ChannelCaller.ask("GET", "Listen", query, at: proxy.endpoint))
          {
            #expect(number == last + 1)
            last = number
            guard let change = message["targetChange"] as? [String: Any] else { continue }
            if change["targetIds"] as? [Int] == [4] { states.append(change["targetChangeType"] as? String ?? "") }
          }
        }
        #expect(states.first == "ADD")
      }
    }
  }

  @Test("A rejected write ends its stream with the code and writes nothing")
  func refusedWrite() async throws {
    let backend = try LocalBackend.inMemory()
    try await Server.run(backend) { server in
      try await Proxied.run(to: server) { proxy in
        let id = try await ChannelCaller.open("Write", #"{"database":"\#(database.name)"}"#, at: proxy.endpoint)
        let opened = try ChannelCaller.arrays(
          try await ChannelCaller.ask("GET", "Write", "SID=\(id)&AID=0&\(Self.listener)", at: proxy.endpoint))
        let last = try #require(opened.last?.number)
        try await proxy.perform(.event(.write(.reject(.alreadyExists))))
        let write = #"{"update":{"name":"\#(database.documentsName)/c/a","fields":{}}}"#
        let reply = try await ChannelCaller.ask(
          "POST", "Write", "SID=\(id)&RID=2&AID=\(last)", [#"{"streamToken":"","writes":[\#(write)]}"#], from: 1,
          at: proxy.endpoint)
        #expect(reply.hasSuffix("[0,\(last + 2),0]"), "\(reply)")
        let frame = try await ChannelCaller.ask(
          "GET", "Write", "SID=\(id)&AID=\(last)&\(Self.listener)", at: proxy.endpoint)
        #expect(
          frame.contains(#""status":"ALREADY_EXISTS""#) && frame.hasSuffix(#"[\#(last + 2),["close"]]]"#), "\(frame)")
        #expect(try await backend.lookup([key("c/a")], in: database).documents.first?.exists == false)
      }
    }
  }

  @Test("WebChannel frames are read in pieces of any size, even with brackets in strings")
  func frames() throws {
    let arrays = [
      ChannelArray(number: 1, content: Array(#"[{"a":"]\\\"[😀é"}]"#.utf8)),
      ChannelArray(number: 2, content: Array(#"["noop"]"#.utf8)),
    ]
    let bytes = ChannelFrames.frame(arrays) + ChannelFrames.frame([arrays[1]])
    for size in 1...bytes.count {
      var (frames, read) = (ChannelFrames(), [[ChannelArray]]())
      for start in stride(from: 0, to: bytes.count, by: size) {
        let piece = ByteBuffer(bytes: bytes[start..<min(start + size, bytes.count)])
        let next = frames.append(piece)
        read += try #require(next)
      }
      #expect(read == [arrays, [arrays[1]]] && !frames.isWithinFrame)
    }
    var frames = ChannelFrames()
    let nothing = frames.append(ByteBuffer(string: "<html><body>not found"))
    #expect(nothing == nil)
  }

  @Test("The proxy translates message numbers between client and server")
  func numbers() {
    var session = ProxiedSession()
    func said(_ numbers: Int...) -> [ChannelArray] { numbers.map { ChannelArray(number: $0, content: [UInt8($0)]) } }
    var sent = 0
    func numbers(_ said: [ChannelArray]) -> [Int] { session.arrays(said, after: &sent).map(\.number) }
    #expect(numbers(said(1, 2)) == [1, 2])
    session.say([100])
    #expect(session.hasDue(after: 2) && !session.hasDue(after: 1))
    #expect(numbers([]) == [3] && sent == 3)
    #expect(numbers(said(3)) == [4])
    #expect([1, 2, 3, 4].map { session.number(forServer: $0) } == [1, 2, 2, 3])
    // Another back channel, whose client has the first array alone.
    sent = 1
    #expect(numbers(said(2, 3)) == [2, 3, 4])
    session.end()
    #expect(numbers(said(4)) == [5] && session.isOver)
  }

  @Test("The body sent to the server replaces each rejected target with a removal")
  func refusedTargets() {
    let body = "count=2&ofs=3&req0___data__=%7B%22database%22%3A%22d%22%2C%22addTarget%22%3A%7B%22targetId%22%3A6%7D%7D"
    let refused = RefusedTargets(Array((body + "&req1___data__=%7B%7D").utf8))
    #expect(refused.targets == [6])
    #expect(
      String(decoding: refused.body, as: UTF8.self)
        == "count=2&ofs=3&req0___data__=%7B%22database%22%3A%22d%22%2C%22removeTarget%22%3A6%7D&req1___data__=%7B%7D")
  }

  @Test("A back channel with an array number below 0 or near 2^63 is invalid")
  func arrayNumbers() {
    for (number, isNumber) in [("1", true), ("9223372036854775807", false), ("-1", false), ("9007199254740993", false)]
    {
      let frame = "[[\(number),[{}]]]"
      var frames = ChannelFrames()
      let arrays = frames.append(ByteBuffer(string: "\(frame.utf8.count)\n\(frame)"))
      #expect((arrays?.first?.count == 1) == isNumber)
    }
  }
}
