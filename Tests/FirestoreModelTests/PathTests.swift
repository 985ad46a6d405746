// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreTesting
import SeededRandom
import Testing

@Suite("Paths")
struct PathTests {
  @Test(
    "An invalid path is rejected with the reason",
    arguments: [
      ("", "empty"), ("/rooms", "at its start"), ("rooms/", "at its end"), ("rooms//r1", "\"//\""),
      ("rooms/.", "\".\" is not allowed"), ("rooms/..", "\"..\" is not allowed"),
      ("rooms/__x__", "reserved"), ("__x__", "reserved"), ("rooms/_____", "reserved"), ("rooms/__id9x__", "reserved"),
      ("rooms/" + String(repeating: "x", count: 1501), "longer than 1500 bytes"),
      (Array(repeating: "c/d", count: 101).joined(separator: "/"), "deeper than 100"),
    ])
  func refusedPaths(text: String, reason: String) throws {
    let error = try #require(throws: ModelError.self) { try ResourcePath(validating: text) }

    #expect(error.code == .invalidArgument)
    #expect(error.message.contains(reason), "\(error)")
  }

  @Test(
    "Unusual but valid paths are accepted",
    arguments: ["rooms", "rooms/__", "rooms/____", "rooms/__id-7__", "rooms/a b", "rooms/\u{301}x", "é/🐵/`/*"])
  func acceptedPaths(text: String) throws {
    #expect(try ResourcePath(validating: text).text == text)
  }

  @Test("A combining character after a slash does not hide the slash")
  func combiningCharacters() throws {
    let path = ResourcePath("rooms/\u{301}x")

    #expect(path.segments.map(String.init) == ["rooms", "\u{301}x"])
    #expect(path.count == 2 && path.isDocument)
    #expect(path.last.utf8.elementsEqual("\u{301}x".utf8))
    #expect(path.parent == ResourcePath("rooms"))
    let name = "projects/p/databases/d/documents/rooms/\u{301}x"
    #expect(Value(referenceName: name) != nil)
  }

  @Test("A path recognizes its descendants")
  func containment() throws {
    let rooms = ResourcePath("rooms")
    let messages = ResourcePath("rooms/r1/messages")

    #expect(rooms.isParent(of: ResourcePath("rooms/r1")))
    #expect(
      !rooms.isParent(of: rooms) && !rooms.isParent(of: messages) && !rooms.isParent(of: ResourcePath("rooms2/r1")))
    #expect(ResourcePath.root.isParent(of: rooms) && !ResourcePath.root.isParent(of: messages))
    #expect(rooms.isPrefix(of: messages) && rooms.isPrefix(of: rooms) && !rooms.isPrefix(of: ResourcePath("rooms2")))
    #expect(ResourcePath("rooms/r1/messages/m").isInCollection(withID: "messages"))
    #expect(ResourcePath("messages/m").isInCollection(withID: "messages"))
    #expect(!ResourcePath("messages").isInCollection(withID: "messages"))
    #expect(!ResourcePath("rooms/messages").isInCollection(withID: "messages"))
  }

  @Test("A document sorts before its descendants, and a prefix before longer segments")
  func order() {
    let sorted = ["a", "a/__id2__", "a/__id10__", "a/!", "a/b", "a/b/c", "a/b!", "a!", "a0"].map { ResourcePath($0) }

    for seed in 0..<20 as Range<UInt64> {
      var random = SeededGenerator(seed: seed)
      #expect(sorted.shuffled(using: &random).sorted() == sorted, "seed \(seed)")
    }
  }

  @Test(
    "Field paths are parsed from user notation",
    arguments: [
      ("a", ["a"]), ("a.b", ["a", "b"]), ("`a.b`.c", ["a.b", "c"]), ("`\\`\\\\`", ["`\\"]), ("a-b.ü", ["a-b", "ü"]),
      ("__name__", ["__name__"]), ("1.2", ["1", "2"]), ("a\\b", ["a\\b"]),
    ])
  func fieldPaths(text: String, segments: [String]) throws {
    #expect(try FieldPath(validating: text) == FieldPath(segments: segments))
  }

  @Test(
    "An invalid field path is rejected with the reason",
    arguments: [
      ("", "empty"), (".a", "segment is empty"), ("a.", "segment is empty"), ("a..b", "segment is empty"),
      ("a[0]", "back-quotes"), ("a/b", "back-quotes"), ("a*", "back-quotes"), ("`a", "not closed"),
      ("`a`b", "must follow"),
      ("a`b", "middle"), ("``", "segment is empty"), ("`a\\", "after a backslash"), ("`\\x`", "may follow a backslash"),
      ("a.__x__", "reserved"),
      (String(repeating: "x", count: 1501), "longer than 1500 bytes"),
    ])
  func refusedFieldPaths(text: String, reason: String) throws {
    let error = try #require(throws: ModelError.self) { try FieldPath(validating: text) }

    #expect(error.message.contains(reason), "\(error)")
  }

  @Test("Encoding a field path quotes segments that are not plain identifiers", arguments: ["a-b", "1a", "ü", "a b"])
  func wireFieldPaths(text: String) throws {
    #expect(throws: ModelError.self) { try FieldPath(wireText: text) }
    #expect(try FieldPath(wireText: "x.`\(text)`") == FieldPath(segments: ["x", text]))
  }

  @Test("A field path's canonical text parses to the same path", arguments: 0..<100 as Range<UInt64>)
  func canonicalText(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let path = FieldPath(segments: ["first"] + random.list(upTo: 3) { $0.name() })

    #expect(try FieldPath(validating: path.canonicalText) == path, "seed \(seed): \(path.canonicalText)")
    #expect(try FieldPath(wireText: path.canonicalText) == path)
    #expect(try FieldPath(canonicalText: path.canonicalText) == path)
  }
}
