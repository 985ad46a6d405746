// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreTesting
import NIOCore
import NIOEmbedded
import NIOHTTP1
import ServerTesting
import Synchronization
import Testing

@testable import FirestoreEmulator

/// Listen and Write as browsers speak them.
@Suite struct WebChannelTests {
  private let server: BrowserFixture

  init() throws { server = try BrowserFixture() }

  /// What a back channel says next.
  private func more(_ channel: EmbeddedChannel) throws -> [(number: Int, text: String)] {
    server.loop.run()
    return try JSONArrays(try Chunks(Array(try channel.sentText().utf8)).bytes).elements
  }

  @Test("A back channel sends the first messages in the emulator's order, then changes")
  func listens() throws {
    let opening = try server.ask("POST", "Listen", "RID=1&CVER=22", server.form(0, server.listen("c/a")))
    #expect(opening.status == "200 OK" && opening.body.hasPrefix("60\n[[0,[\"c\",\""))
    for line in [
      "Content-Type: text/plain; charset=utf-8", "X-Content-Type-Options: nosniff",
      "Cache-Control: private, max-age=0", "Access-Control-Allow-Origin: \(BrowserFixture.page)",
      "Access-Control-Allow-Credentials: true",
    ] { #expect(opening.has(line)) }
    #expect(!opening.has("X-HTTP-Session-Id"))

    let session = String(opening.body.split(separator: "\"")[3])
    let channel = try server.back("Listen", session, after: 0)
    let answer = try Answer(try channel.sentText())
    #expect(answer.status == "200 OK" && !answer.isWhole)
    let first = try answer.arrays
    #expect(first.map(\.number) == Array(1...5))
    for (array, part) in zip(
      first, [#""targetChangeType": "ADD""#, #""documentDelete""#, #""CURRENT""#, #""readTime""#, "noop"])
    { #expect(array.text.contains(part)) }
    #expect(first[1].text.contains(#""removedTargetIds": [2]"#))

    try server.backend.set("c/a", "naïve 😀")
    let change = try more(channel)
    #expect(change.first?.number == 6 && change.first?.text.contains("naïve 😀") == true)
    let reply = try server.ask(
      "POST", "Listen", "SID=\(session)&RID=2&AID=7", server.form(1, server.listen("c/b", target: 4)))
    #expect(reply.body.hasPrefix("7\n[1,7,"))
    #expect(try more(channel).count == 4)
    channel.close(promise: nil)
  }

  @Test("Only a browser's fifth back channel over HTTP/1 is reported, and only once")
  func many() throws {
    let told = Mutex<[String]>([])
    let server = try BrowserFixture { line in told.withLock { $0.append(line) } }
    var channels: [EmbeddedChannel] = []
    for number in 1...7 {
      let session = try server.open("Listen", server.form(0, server.listen("c/a")))
      channels.append(try server.back("Listen", session, after: 0))
      #expect(told.withLock { $0.count } == (number < 5 ? 0 : 1), "\(number)")
    }
    #expect(told.withLock { $0.first?.contains("--tls-cert") } == true)
    for channel in channels { channel.close(promise: nil) }
  }

  @Test("A buffered back channel ends after its data, or before the client's timeout")
  func buffered() throws {
    let session = try server.open("Listen", server.form(0, server.listen("c/a")))
    let first = try Answer(try server.back("Listen", session, after: 0, "CI=1").sentText())
    #expect(try first.isWhole && first.arrays.count == 4)

    let second = try server.back("Listen", session, after: 4, "CI=1&TO=10000")
    #expect(try second.sentText().isEmpty)
    server.loop.advanceTime(by: .seconds(10))
    let silence = try Answer(try second.sentText())
    #expect(silence.isWhole && silence.body == "14\n[[5,[\"noop\"]]]")

    let third = try server.back("Listen", session, after: 5, "CI=1")
    try server.backend.set("c/a", "new")
    server.loop.run()
    let change = try Answer(try third.sentText())
    #expect(change.isWhole && change.body.contains("new"))
  }

  @Test("The next back channel resends lost messages; a newer back channel replaces it")
  func again() throws {
    let session = try server.open("Listen", server.form(0, server.listen("c/a")))
    let lost = try server.back("Listen", session, after: 0)
    lost.close(promise: nil)
    try server.backend.set("c/a", "while away")
    let first = try server.back("Listen", session, after: 2)
    let numbers = try Answer(try first.sentText()).arrays
    #expect(numbers.first?.number == 3 && numbers.contains { $0.text.contains("while away") })

    let second = try server.back("Listen", session, after: try #require(numbers.last?.number))
    #expect(try first.sentText() == "0\r\n\r\n")
    #expect(first.isActive)
    try server.backend.set("c/a", "for the second")
    #expect(try more(first).isEmpty)
    server.loop.run()
    #expect(try second.sentText().contains("for the second"))
  }

  @Test("A back channel sends data immediately, even for a large collection")
  func large() throws {
    for number in 0..<2_100 { try server.backend.set("c/d\(number)", "x") }
    let query =
      #"{"database":"\#(database.name)","addTarget":{"targetId":2,"query":{"parent":"\#(database.documentsName)","#
      + #""structuredQuery":{"from":[{"collectionId":"c"}]}}}}"#
    let session = try server.open("Listen", server.form(0, query))
    let channel = try server.connect()
    try server.send(channel, "GET", server.address("Listen", "SID=\(session)&RID=rpc&AID=0&CI=0&TYPE=xmlhttp"))
    let first = try Answer(try channel.sentText()).arrays
    let noop = try #require(first.firstIndex { $0.text == #"["noop"]"# })
    #expect(noop > 1_000 && !first.contains { $0.text.contains("CURRENT") })
    let rest = try more(channel)
    #expect(rest.contains { $0.text.contains("CURRENT") })
    #expect((first + rest).map(\.number) == Array(1...(first.count + rest.count)))
    #expect((first + rest).count { $0.text.contains("documentChange") } == 2_100)
  }

  @Test("A page that stops reading gets the newest state when it resumes")
  func slow() throws {
    let session = try server.open("Listen", server.form(0, server.listen("c/a")))
    let channel = try server.back("Listen", session, after: 0)
    _ = try channel.sentText()
    channel.isWritable = false
    for number in 0..<1_000 { try server.backend.set("c/a", "change \(number)") }
    #expect(try more(channel).isEmpty)

    channel.isWritable = true
    channel.pipeline.fireChannelWritabilityChanged()

    let text = try channel.sentText()
    #expect(text.contains("change 999") && text.utf8.count < 1_000)
  }

  @Test("Writes are answered in order, and each is applied once despite retries")
  func writes() throws {
    let handshake = server.form(0, #"{"database":"\#(database.name)"}"#)
    let session = try server.open("Write", handshake)
    let channel = try server.back("Write", session, after: 0)
    let first = try Answer(try channel.sentText()).arrays
    #expect(first.first?.text.contains(#""streamId""#) == true)

    let body = server.form(1, server.write("w/a", "one", exists: false), server.write("w/b", "two"))
    for _ in 0..<2 {
      let reply = try server.ask("POST", "Write", "SID=\(session)&RID=2&AID=2", body)
      #expect(reply.status == "200 OK" && reply.body.contains("[1,4,"))
    }
    let results = try more(channel)
    #expect(results.map(\.number) == [3, 4])
    #expect(results.allSatisfy { $0.text.contains("commitTime") && $0.text.contains("updateTime") })
    channel.close(promise: nil)
  }

  @Test("A failed batch ends the stream with its status before later batches")
  func failure() throws {
    try server.backend.set("w/a", "there")
    let session = try server.open("Write", server.form(0, #"{"database":"\#(database.name)"}"#))
    let body = server.form(1, server.write("w/a", "new", exists: false), server.write("w/b", "behind"))
    _ = try server.ask("POST", "Write", "SID=\(session)&RID=2&AID=0", body)
    let answer = try Answer(try server.back("Write", session, after: 0).sentText())
    let arrays = try answer.arrays
    #expect(answer.isWhole && arrays.map(\.number) == [1, 2, 3])
    #expect(arrays[1].text.contains(#""code": 409, "message": "ALREADY_EXISTS: Document already exists: "#))
    #expect(arrays[1].text.contains(#""status": "ALREADY_EXISTS""#) && arrays[2].text == #"["close"]"#)
    let missing = try server.ask("POST", "Listen", "RID=1", server.form(0, server.listen("w/b")))
    #expect(missing.status == "200 OK")
    // It is known to be over: who asks again is told so.
    let gone = try server.ask("GET", "Write", "SID=\(session)&RID=rpc&AID=3&CI=0&TYPE=xmlhttp")
    #expect(gone.status == "400 Bad Request" && gone.body.contains(": Unknown SID"))
    let read = try server.open("Listen", server.form(0, server.listen("w/b")))
    #expect(try Answer(try server.back("Listen", read, after: 0).sentText()).body.contains("documentDelete"))
  }

  @Test("An invalid target does not end the stream, but an unreadable message does")
  func faults() throws {
    let query =
      #"{"database":"\#(database.name)","addTarget":{"targetId":2,"query":{"parent":"\#(database.documentsName)","#
      + #""structuredQuery":{"from":[{"collectionId":"c"}],"offset":1}}}}"#
    let session = try server.open("Listen", server.form(0, query))
    let channel = try server.back("Listen", session, after: 0)
    let arrays = try Answer(try channel.sentText()).arrays
    #expect(arrays[1].text.contains(#""REMOVE", "targetIds": [2], "cause": {"code": 3, "message": "'offset'"#))

    _ = try server.ask("POST", "Listen", "SID=\(session)&RID=2&AID=0", server.form(1, "{not json"))
    let last = try more(channel)
    #expect(last.first?.text.contains(#""status": "INVALID_ARGUMENT""#) == true)
    #expect(last.last?.text == #"["close"]"# && server.backend.openWatches == 0)
  }

  @Test("A session ends at its client's request, and its id is unknown afterwards")
  func terminates() throws {
    for verb in ["GET", "POST"] {
      let session = try server.open("Listen", server.form(0, server.listen("c/a")))
      let channel = try server.back("Listen", session, after: 0)
      _ = try channel.sentText()
      #expect(server.backend.openWatches == 1)
      #expect(try server.ask(verb, "Listen", "SID=\(session)&RID=9&TYPE=terminate").status == "200 OK")
      #expect(try channel.sentText() == "0\r\n\r\n")
      #expect(server.backend.openWatches == 0 && server.channels.count == 0)
      #expect(try server.ask("POST", "Listen", "SID=\(session)&RID=3&AID=0").status == "400 Bad Request")
    }
  }

  @Test("A shutdown is announced on back channels and closes their connections")
  func quiesce() throws {
    for method in ["Listen", "Write"] {
      let session = try server.open(method, "")
      let channel = try server.back(method, session, after: 0)
      _ = try channel.sentText()
      channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
      #expect(try channel.sentText().contains(#""status":"UNAVAILABLE""#))
      #expect(!channel.isActive)
    }
  }

  @Test("Preflight and probe requests are answered")
  func probes() throws {
    let channel = try server.connect()
    try channel.receive(
      "OPTIONS \(server.address("Listen", "RID=1")) HTTP/1.1\r\nHost: localhost\r\nOrigin: \(BrowserFixture.page)\r\n"
        + "Access-Control-Request-Headers: x-goog-api-client\r\n\r\n")
    let preflight = try Answer(try channel.sentText())
    #expect(preflight.status == "200 OK" && preflight.has("Access-Control-Allow-Headers: x-goog-api-client"))
    #expect(try server.ask("GET", "Listen", "MODE=init").body == #"["",""]"#)
    let line = try server.connect()
    try server.send(line, "GET", server.address("Listen", "TYPE=xmlhttp"))
    #expect(try Answer(try line.sentText()).body == "11111")
    server.loop.advanceTime(by: .seconds(2))
    #expect(try line.sentText() == "1\r\n2\r\n0\r\n\r\n")
    let named = try server.ask("POST", "Listen", "RID=1&X-HTTP-Session-Id=gsessionid", "count=0")
    #expect(named.head.contains("\r\nX-HTTP-Session-Id: "))
  }
}
