// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import SeededRandom
import ServerTesting
import Testing

@testable import FirestoreEmulator

extension [UInt8] {
  var text: String { String(decoding: self, as: UTF8.self) }
}

/// A session as a value: frames, acknowledgements, repeats, and what time does.
@Suite struct ChannelSessionTests {
  private func message(_ number: Int, _ text: String = "") -> ForwardBody.Message {
    ForwardBody.Message(number: number, content: .success(Array(text.utf8)))
  }

  private func numbers(_ session: inout ChannelSession, _ numbers: Int...) throws -> [Int] {
    try session.receive(numbers.map { message($0) }).map(\.number)
  }

  private func taken(_ session: inout ChannelSession) throws -> (frame: [UInt8], isLast: Bool) {
    let piece = session.take()
    return try #require(piece)
  }

  private func tick(_ session: inout ChannelSession) -> ChannelSession.Turn { session.tick() }

  /// What there is to say, as text; nothing for nothing.
  private func said(_ session: inout ChannelSession) -> String { session.take()?.frame.text ?? "" }

  private func append(_ session: inout ChannelSession, _ texts: String...) {
    for text in texts { session.append(Array(text.utf8)) }
  }

  @Test("The first message, a frame and a POST response match the emulator's bytes")
  func frames() throws {
    #expect(
      ChannelSession.greeting("0eNMJpbB-l-MM0IAaMg4Kw==").text
        == "52\n[[0,[\"c\",\"0eNMJpbB-l-MM0IAaMg4Kw==\",\"\",8,12,30000]]]")
    var session = ChannelSession()
    #expect(session.reply.text == "7\n[0,0,0]")
    session.open(.streamed)
    session.greet()
    #expect(said(&session) == "14\n[[1,[\"noop\"]]]")
    append(&session, "{}", #"{"a":1}"#)
    let next = try taken(&session)
    #expect(next.frame.text == "24\n[[2,[{}]],[3,[{\"a\":1}]]]" && !next.isLast)
    #expect(said(&session).isEmpty)
    #expect(session.reply.text == "8\n[1,3,21]")
  }

  @Test("A frame's length is in UTF-16 code units", arguments: ["é", "…", "😀", "a😀é\u{10FFFF}", "漢字", ""])
  func units(text: String) {
    let framed = ChannelOutbox.framed(Array(text.utf8)).text
    #expect(framed == "\(text.utf16.count)\n\(text)")
  }

  @Test("A reopened back channel receives exactly the messages not yet acknowledged")
  func acknowledgements() throws {
    var session = ChannelSession()
    session.open(.streamed)
    append(&session, "1", "2", "3")
    #expect(said(&session).hasSuffix("[[1,[1]],[2,[2]],[3,[3]]]"))
    session.close()
    #expect(said(&session).isEmpty)
    session.acknowledge(2)
    append(&session, "4")
    session.open(.streamed)
    #expect(said(&session).hasSuffix("[[3,[3]],[4,[4]]]"))

    // An older number takes nothing back, and one that was never sent acknowledges nothing.
    session.acknowledge(1)
    session.acknowledge(99)
    session.acknowledge(-1)
    session.open(.buffered)
    let again = try taken(&session)
    #expect(again.frame.text.hasSuffix("[[3,[3]],[4,[4]]]") && again.isLast && session.back == .none)
    session.acknowledge(4)
    #expect(session.bytes == 0)
    append(&session, "5")
    session.open(.streamed)
    #expect(said(&session).hasSuffix("[[5,[5]]]"))
  }

  @Test("A client's messages are applied once and in order, whatever order they arrive in")
  func inbox() throws {
    var session = ChannelSession()
    #expect(try numbers(&session, 0, 1) == [0, 1])
    #expect(try numbers(&session, 0, 1) == [])
    #expect(try numbers(&session, 3, 4) == [])
    // The same again, with one that is new.
    #expect(try numbers(&session, 1, 2) == [2, 3, 4])
    #expect(try numbers(&session, 4, 5) == [5])
    #expect(session.bytes == 0)
  }

  @Test("The number of messages that wait for a missing one is limited")
  func gap() throws {
    var far = ChannelSession()
    #expect(throws: RPCStatus.self) { try far.receive([message(ChannelInbox.mostEarly + 1)]) }
    var large = ChannelSession()
    let megabyte = String(repeating: "x", count: 1 << 20)
    #expect(throws: RPCStatus.self) {
      for number in 1...12 { _ = try large.receive([message(number, megabyte)]) }
    }
    #expect(large.bytes <= 12 << 20)
  }

  @Test("A full back channel ends, and nothing more is sent until the client acknowledges")
  func kept() throws {
    var session = ChannelSession()
    session.open(.streamed)
    session.append([UInt8](repeating: 0x31, count: ChannelSession.keptBytes - 2))
    let full = try taken(&session)
    #expect(full.isLast && !session.wantsMore)
    session.open(.streamed)
    #expect(!session.wantsMore)
    session.acknowledge(1)
    session.open(.streamed)
    #expect(session.wantsMore)
  }

  @Test("A silent back channel gets a noop, and a buffered back channel ends")
  func turns() throws {
    var session = ChannelSession()
    session.open(.streamed)
    for _ in 0..<4 { #expect(tick(&session) == .nothing) }
    #expect(tick(&session) == .deliver)
    let noop = try taken(&session)
    #expect(noop.frame.text == "14\n[[1,[\"noop\"]]]" && !noop.isLast)
    // Every 25 seconds, which is sooner than the 45 after which a client gives up.
    var frames = 0
    while session.back != .none {
      if session.tick() == .deliver, session.take() != nil { frames += 1 }
    }
    #expect(frames == 11)

    session.open(.buffered, patience: 12)
    #expect(try taken(&session).isLast)
    session.acknowledge(12)
    session.open(.buffered, patience: 12)
    #expect(said(&session).isEmpty)
    #expect(tick(&session) == .nothing)
    #expect(tick(&session) == .deliver)
    #expect(try taken(&session).isLast && session.back == .none)
  }

  @Test("A session ends after an unused minute; messages from its client keep it open")
  func expires() throws {
    var session = ChannelSession()
    for _ in 0..<11 { #expect(tick(&session) == .nothing) }
    _ = try session.receive([])
    for _ in 0..<11 { #expect(tick(&session) == .nothing) }
    #expect(tick(&session) == .expired)
  }

  @Test("A failed stream reports its error and then ends its session")
  func over() throws {
    var session = ChannelSession()
    session.open(.streamed)
    session.end(Array(#"{"error":{}}"#.utf8))
    append(&session, "late")
    let last = try taken(&session)
    #expect(last.frame.text.hasSuffix(#"[[1,[{"error":{}}]],[2,["close"]]]"#) && last.isLast)
    #expect(!session.wantsMore && !session.isDone)
    #expect(try session.receive([message(0)]).isEmpty)
    for _ in 0..<5 { #expect(tick(&session) == .nothing) }
    #expect(tick(&session) == .expired)
    session.acknowledge(2)
    #expect(session.isDone)
  }

  @Test("Despite loss, repetition and delay each side receives everything once", arguments: [UInt64](1...50))
  func chaos(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var session = ChannelSession()
    var (applied, received): ([Int], [Int]) = ([], [])
    var (sentUp, produced, seen) = (0, 0, 0)
    for _ in 0..<300 {
      switch Int.random(in: 0..<6, using: &random) {
      case 0:
        let first = Int.random(in: max(0, sentUp - 3)...sentUp, using: &random)
        sentUp = max(sentUp, first + 2)
        applied += try session.receive([message(first), message(first + 1)]).map(\.number)
      case 1:
        produced += 1
        session.append(Array("{\"n\":\(produced)}".utf8))
      case 2:
        session.acknowledge(seen)
        session.open(Bool.random(using: &random) ? .streamed : .buffered)
      case 3: session.close()
      default:
        // What is written may be lost with its connection.
        guard let (frame, _) = session.take() else { break }
        if Int.random(in: 0..<3, using: &random) == 0 {
          session.close()
          break
        }
        for element in try JSONArrays(frame).elements where element.number > seen {
          #expect(element.number == seen + 1, "seed \(seed)")
          seen = element.number
          received.append(element.number)
        }
      }
    }
    session.acknowledge(seen)
    session.open(.streamed)
    if let rest = session.take() { received += try JSONArrays(rest.frame).elements.map(\.number) }
    #expect(applied == Array(0..<sentUp), "seed \(seed)")
    #expect(received == Array(1..<(produced + 1)), "seed \(seed)")
  }
}
