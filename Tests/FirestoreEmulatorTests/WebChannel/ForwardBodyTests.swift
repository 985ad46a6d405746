// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreREST
import FirestoreTesting
import SeededRandom
import ServerTesting
import Testing

@testable import FirestoreEmulator

/// What browsers put into addresses and bodies.
@Suite struct ForwardBodyTests {
  private static let path = "/google.firestore.v1.Firestore/Listen/channel"

  private func body(_ text: String, _ method: StreamMethod = .listen) throws -> ForwardBody {
    try ForwardBody(Array(text.utf8), of: method)
  }

  private func wish(_ verb: String, _ query: String) throws -> WebChannelRequest.Wish {
    try WebChannelRequest(verb, "\(Self.path)?VER=8&\(query)").wish
  }

  @Test("The web SDK's first request has headers, and later requests have only messages")
  func messages() throws {
    let first = try body(
      "headers=X-Goog-Api-Client%3Agl-js%2F%20fire%2F11%0D%0AContent-Type%3Atext%2Fplain%0D%0A"
        + "Authorization%3ABearer%20owner%0D%0A&count=1&ofs=0"
        + "&req0___data__=%7B%22database%22%3A%22projects%2Fp%2Fdatabases%2F(default)%22%2C%22removeTarget%22%3A2%7D")
    #expect(first.headers.authorization == "Bearer owner")
    #expect(first.messages.map(\.number) == [0])
    let request = try #require(try? first.messages[0].content.get())
    #expect(request == Array("\u{0A}\u{1E}projects/p/databases/(default)\u{18}\u{02}".utf8))

    let more = try body("count=2&ofs=7&req0___data__=%7B%7D&req5___data__=%7B%7D")
    #expect(more.messages.map(\.number) == [7, 12] && more.headers.authorization == nil)
    #expect(try body("").messages.isEmpty)
    #expect(try body("count=0&ofs=3").messages.isEmpty)
  }

  @Test("An unreadable message fails alone, but a malformed form is rejected as a whole")
  func faults() throws {
    for text in [
      "req0___data__=%7Bnot", "req0___data__=%7B%22wrong%22%3A1%7D", "req0_type=_badmap", "req0___data__=%FF",
    ] {
      let message = try #require(try body("count=1&\(text)").messages.first)
      #expect(throws: RPCStatus.self) { try message.content.get() }
    }
    for text in [
      "count=x", "count=1001", "count=2&req0___data__=%7B%7D", "ofs=-1", "ofs=99999999999999999999", "req_x=1",
      "req99999___data__=1", "reqx___data__=1",
    ] { #expect(throws: RPCStatus.self, "\(text)") { try body(text) } }
    let many = (0...1_000).map { "req\($0)___data__=1" }.joined(separator: "&")
    #expect(throws: RPCStatus.self) { try body(many) }
  }

  @Test("The address of a WebChannel request determines the requested action")
  func wishes() throws {
    #expect(try wish("POST", "RID=1&CVER=22&X-HTTP-Session-Id=gsessionid") == .open(wantsSessionID: true))
    #expect(try wish("POST", "SID=a%3D%3D&RID=2&AID=4") == .send(session: "a=="))
    #expect(
      try wish("GET", "SID=a&RID=rpc&AID=0&CI=0&TYPE=xmlhttp")
        == .receive(session: "a", isBuffered: false, patience: nil))
    #expect(
      try wish("GET", "SID=a&RID=rpc&AID=0&CI=1&TO=20000&TYPE=xmlhttp")
        == .receive(session: "a", isBuffered: true, patience: 20))
    for verb in ["GET", "POST"] { #expect(try wish(verb, "SID=a&TYPE=terminate") == .terminate(session: "a")) }
    #expect(try wish("GET", "MODE=init") == .parameters)
    #expect(try wish("GET", "TYPE=xmlhttp") == .trial)
    for (verb, query) in [("GET", ""), ("GET", "SID=a"), ("PUT", "SID=a"), ("DELETE", "")] {
      #expect(throws: RPCStatus.self) { try wish(verb, query) }
    }
    let request = try WebChannelRequest(
      "POST", "\(Self.path)?%24httpHeaders=Authorization%3ABearer%20t%0D%0A&AID=7#SID=no")
    #expect(request.headers.authorization == "Bearer t" && request.acknowledged == 7)
    #expect(!WebChannelRequest.isOne("/google.firestore.v1.Firestore/Listen"))
    #expect(throws: RPCStatus.self) { try WebChannelRequest("POST", "/google.firestore.v1.Firestore/Commit/channel") }
  }

  @Test("Any WebChannel request, in any order, is accepted or rejected without a crash")
  func mutations() throws {
    let seed = UInt64.random(in: .min ... .max)
    var random = SeededGenerator(seed: seed)
    let bodies = [
      "headers=Authorization%3ABearer%20owner%0D%0A&count=1&ofs=0&req0___data__=%7B%22removeTarget%22%3A2%7D",
      "count=2&ofs=7&req0___data__=%7B%7D&req1___data__=%7B%22addTarget%22%3A%7B%22targetId%22%3A2%7D%7D",
      "count=3&req0___data__=&req2_type=_badmap&req1___data__=[1]",
    ]
    let queries = [
      "VER=8&RID=1&CVER=22&%24httpHeaders=A%3Ab%0D%0A", "SID=a&RID=rpc&AID=3&CI=1&TO=5000&TYPE=xmlhttp",
      "SID=a&RID=2&AID=-4",
    ]
    var session = ChannelSession()
    var (read, applied) = (0, 0)
    for _ in 0..<TestSize.count(4_000, full: 10_000) {
      let text = random.mutated(random.pick(bodies))
      let target = "\(Self.path)?" + String(decoding: random.mutated(random.pick(queries)), as: UTF8.self)
      let request = try? WebChannelRequest(random.pick(["GET", "POST", "X"]), target)
      if let number = request?.acknowledged { session.acknowledge(number) }
      guard let body = try? ForwardBody(text, of: random.pick(StreamMethod.allCases)) else { continue }
      read += 1
      guard let ready = try? session.receive(body.messages) else {
        session = ChannelSession()
        continue
      }
      applied += ready.count
      session.open(random.pick([.streamed, .buffered, .none]), patience: Int.random(in: -9...99, using: &random))
      if Bool.random(using: &random) { session.append(text) }
      _ = session.take()
      if session.tick() == .expired { session = ChannelSession() }
      if session.bytes > 4_096 { session = ChannelSession() }
    }
    #expect(read > 0 && applied > 0, "seed \(seed)")
  }
}

extension SeededGenerator {
  /// A text with some of its bytes changed, removed or repeated.
  mutating func mutated(_ text: String) -> [UInt8] {
    var bytes = Array(text.utf8)
    for _ in 0..<Int.random(in: 0...4, using: &self) where !bytes.isEmpty {
      let index = Int.random(in: bytes.indices, using: &self)
      switch Int.random(in: 0..<5, using: &self) {
      case 0: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &self)
      case 1: bytes.remove(at: index)
      case 2:
        let piece = pick(["%", "&", "=", "req", "9999", "%7B", "___data__", "-"])
        bytes.insert(contentsOf: Array(piece.utf8), at: index)
      case 3: bytes.removeSubrange(index...)
      default:
        let end = Int.random(in: index...bytes.count, using: &self)
        bytes.insert(contentsOf: bytes[index..<end], at: index)
      }
    }
    return bytes
  }
}
