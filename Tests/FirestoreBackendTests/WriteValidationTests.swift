// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreTesting
import Testing

@testable import FirestoreBackend

@Suite struct WriteValidationTests {
  private static func nested(_ depth: Int) -> Value {
    (1..<depth).reduce(Value.integer(1)) { value, _ in ["m": value] }
  }

  @Test(
    "Invalid writes are rejected with the real backend's message",
    arguments: [
      (set("c/.", [:]), "contains a resource id \".\" at index 1."),
      (set("c//d/e", [:]), "lacks a resource id at index 1."),
      (set("c/__x__", [:]), "Resource id \"__x__\" is invalid because it is reserved."),
      (set("__id7__/a", [:]), "Collection id \"__id7__\" is invalid because it is reserved."),
      (set("c/" + String(repeating: "x", count: 1501), [:]), "The key path element name is longer than 1500 bytes."),
      (set("c/a", ["": 1]), "The property.name is the empty string."),
      (set("c/a", ["__x__": 1]), "field name __x__ is reserved"),
      (set("c/a", [String(repeating: "x", count: 1501): 1]), "The property.name is longer than 1500 bytes."),
      (set("c/a", ["a": ["b": ["__x__": 1]]]), "field name '__x__' is reserved."),
      (set("c/a", ["a": ["__min__": .null, "b": 1]]), "field name '__min__' is reserved."),
      (set("c/a", ["a": ["": 1]]), "Property a contains an invalid nested entity."),
      (set("c/a", ["a": nested(22)]), "Property a contains an invalid nested entity."),
      (set("c/a", ["a": [[1]]]), "Cannot convert an array value in an array value."),
      (set("c/a", ["a": .geoPoint(GeoPoint(latitude: 91, longitude: 0))]), "Geo point latitude '91.0' outside"),
      (set("c/a", ["a": .vector([])]), "Cannot have a zero length vector."),
      (set("c/a", ["a": [.vector([1])]]), "Cannot convert a vector value in an array value."),
      (patch("c/a", [:], mask: ["a.__b__"]), "Invalid reserved name in field path __b__"),
      (transform("c/a", .arrayUnion([[1]])), "Cannot convert an array value in an array value."),
    ])
  func refused(_ mutation: Mutation, _ text: String) async throws {
    let backend = try makeBackend()
    let error = await #expect(throws: RPCStatus.self) { try await backend.commit(mutation) }
    #expect(error?.code == .invalidArgument)
    #expect(error?.message.contains(text) == true, "\(error?.message ?? "")")
  }

  /// No arguments of a test: these are described, byte by byte.
  @Test("Oversized writes are rejected with the real backend's message")
  func tooLarge() async throws {
    let large = Value.bytes(Array(repeating: 0, count: 600_000))
    try await refused(
      set("c/a", ["a": .bytes(Array(repeating: 0, count: 1_048_488))]), "longer than 1048487 bytes.")
    try await refused(set("c/a", ["a": large, "b": large]), "exceeds the maximum allowed size of 1,048,576 bytes.")
  }

  @Test(
    "Unusual but valid data is stored",
    arguments: [
      set("c/__id7__", [:]), set("c/__", [:]), set("c/____", [:]), set("c/a\u{0}b", ["a.b": 1, "`": 2]),
      set("c/a", ["a": nested(21)]), set("c/a", ["a": ["__min__": .null]]), set("c/a", ["a": ["__int__": 7]]),
      set("c/a", ["a": .vector([1, 2])]),
      set("c/e\u{301}", ["\u{e9}": 1, "e\u{301}": 2]),
    ])
  func accepted(_ mutation: Mutation) async throws {
    let backend = try makeBackend()
    try await backend.commit(mutation)
    let stored = try await backend.lookup([mutation.key], in: database).documents[0]
    guard case .set(let fields) = mutation.operation else { return }
    #expect(stored.data?.fields == fields)
    #expect(try await backend.paths(query("c")) == [mutation.key.path.text])
  }

  @Test("Timestamps are truncated to microseconds at every depth")
  func timestamps() async throws {
    let backend = try makeBackend()
    let precise = Value.timestamp(Timestamp(seconds: 5, nanoseconds: 123_456_789))
    let cut = Value.timestamp(Timestamp(seconds: 5, nanoseconds: 123_456_000))
    try await backend.commit(set("c/a", ["t": precise, "m": ["a": [precise]]]))
    #expect(try await backend.read("c/a").data?.fields == ["t": cut, "m": ["a": [cut]]])
  }
}
