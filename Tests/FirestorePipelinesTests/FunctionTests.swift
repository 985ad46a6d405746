// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreTesting
import Testing

@Suite("Pipeline functions")
struct FunctionTests {
  struct Example: CustomTestStringConvertible, Sendable {
    let expression: ExpressionMessage
    /// `nil` for an absent value.
    let expected: Value?

    init(_ expression: ExpressionMessage, _ expected: Value?) {
      (self.expression, self.expected) = (expression, expected)
    }

    var testDescription: String { "\(expression)" }
  }

  static let bytes = ExpressionMessage.constant(.bytes([97, 98, 97]))
  static let document: Fields = [
    "n": .null, "nan": .double(.nan), "list": [1, 2.0, "x", 2], "map": ["a": 1, "b": ["c": 2]], "text": "Äbc",
    "zero": 0,
    "vector": .vector([1, 2, 3]), "place": .geoPoint(GeoPoint(latitude: 0, longitude: 0)),
    "int32": ["__int__": 7], "time": .timestamp(Timestamp(microseconds: 735_998_460_654_321)),
  ]

  static let arithmetic = [
    Example(call("add", 1, 2), 3), Example(call("add", 1, 2.5, 3), 6.5), Example(call("subtract", 1, 2), -1),
    Example(call("multiply", 4, 2.5), 10.0), Example(call("divide", 7, 2), 3), Example(call("divide", 7.0, 2), 3.5),
    Example(call("divide", 1.0, 0.0), .double(.infinity)), Example(call("mod", -7, 3), -1),
    Example(call("mod", 4.5, 2), 0.5), Example(call("abs", -3), 3), Example(call("ceil", 1.2), 2.0),
    Example(call("floor", -1.2), -2.0), Example(call("round", 4.5), 5.0), Example(call("round", -2.5), -3.0),
    Example(call("round", 1250, -2), 1300), Example(call("round", 2.345, 2), 2.35),
    Example(call("trunc", -4.79, 1), -4.7),
    Example(call("trunc", 1299, -2), 1200), Example(call("pow", 2, 10), 1024.0), Example(call("sqrt", 9), 3.0),
    Example(call("ln", 1), 0.0), Example(call("log", 8, 2), 3.0), Example(call("log10", 1000), 3.0),
    Example(call("exp", 0), 1.0), Example(call("add", field("n"), 1), .null),
    Example(call("add", field("gone"), 1), .null),
    Example(call("add", field("nan"), 1), .double(.nan)), Example(call("add", field("int32"), 1), 8),
  ]
  static let comparison = [
    Example(call("equal", 1, 1.0), true), Example(call("equal", field("n"), nil), true),
    Example(call("equal", field("gone"), nil), false), Example(call("not_equal", field("gone"), 1), true),
    Example(call("equal", field("nan"), .constant(.double(.nan))), true), Example(call("less_than", 1, 1.5), true),
    Example(call("less_than", 1, "a"), false), Example(call("greater_than", "b", "a"), true),
    Example(call("less_than", field("nan"), 1), false), Example(call("less_than_or_equal", 2, 2.0), true),
    Example(call("greater_than_or_equal", field("gone"), 1), false), Example(call("cmp", 2, 1), 1),
    Example(call("cmp", "a", "b"), -1),
    Example(call("less_than", reference("c/__id7__"), reference("c/__id10__")), true),
    Example(call("equal_any", 2, .constant([1, 2.0])), true),
    Example(call("equal_any", field("gone"), .constant([1])), false),
    Example(call("not_equal_any", 3, .constant([1, 2])), true), Example(call("maximum", 1, field("n"), 3), 3),
    Example(call("minimum", field("gone"), field("n")), .null), Example(call("maximum", field("list")), "x"),
    Example(call("maximum_n", .constant([3, 1, 2]), 2), [3, 2]),
    Example(call("minimum_n", .constant([3, 1, 2]), 5), [1, 2, 3]),
    Example(call("is_null", field("n")), true), Example(call("is_nan", field("nan")), true),
  ]
  static let strings = [
    Example(call("byte_length", field("text")), 4), Example(call("char_length", field("text")), 3),
    Example(call("string_concat", "a", field("text")), "aÄbc"), Example(call("starts_with", field("text"), "Ä"), true),
    Example(call("ends_with", field("text"), "bc"), true), Example(call("string_contains", field("text"), "cb"), false),
    Example(call("string_index_of", field("text"), "c"), 2), Example(call("string_index_of", field("text"), "x"), -1),
    Example(call("to_upper", field("text")), "ÄBC"), Example(call("to_lower", field("text")), "äbc"),
    Example(call("substring", field("text"), 1), "bc"), Example(call("substring", field("text"), -2, 1), "b"),
    Example(call("substring", field("text"), 9), ""), Example(call("string_reverse", field("text")), "cbÄ"),
    Example(call("string_repeat", "ab", 3), "ababab"), Example(call("string_replace_all", "banana", "an", "x"), "bxxa"),
    Example(call("string_replace_one", "banana", "an", "x"), "bxana"), Example(call("trim", " a \n"), "a"),
    Example(call("ltrim", "xxaxx", "x"), "axx"), Example(call("rtrim", "xxaxx", "x"), "xxa"),
    Example(call("split", "a,b,,c"), ["a", "b", "", "c"]), Example(call("split", "a--b", "--"), ["a", "b"]),
    Example(call("split", "aÄ", ""), ["a", "Ä"]), Example(call("like", "Dune", "D%e"), true),
    Example(call("like", "Dune", "D_e"), false), Example(call("like", "a%b", "a\\%b"), true),
    Example(call("like", "mississippi", "%iss%ip%"), true),
    Example(call("join", .constant(["a", .null, "b"]), "-"), "a-b"),
    Example(call("join", .constant(["a", .null]), "-", "?"), "a-?"), Example(call("concat", "a", "b"), "ab"),
    Example(call("length", field("text")), 3), Example(call("byte_length", bytes), 3),
    Example(call("string_reverse", .constant(.bytes([1, 2]))), .bytes([2, 1])),
    Example(call("string_replace_all", bytes, .constant(.bytes([97])), .constant(.bytes([]))), .bytes([98])),
    Example(call("string_concat", "a", field("n")), .null),
    Example(call("regex_contains", field("text"), "(?i)ä.c"), true), Example(call("regex_match", "abc", "b"), false),
    Example(call("regex_match", "abc", "a(?i)B.*"), true),
    Example(call("regex_find", "Go Big Home", "\\b[A-Z][a-z]{2}\\b"), "Big"),
    Example(call("regex_find", "abc", "x"), .null), Example(call("regex_find_all", "a1b22", "[0-9]+"), ["1", "22"]),
    Example(call("regex_find_all", "abc", "[0-9]+"), []), Example(call("regex_contains", field("gone"), "a"), .null),
  ]
  static let collections = [
    Example(call("array_get", field("list"), -1), 2), Example(call("array_get", field("list"), 9), nil),
    Example(call("offset", field("list"), 2), "x"), Example(call("array_length", field("list")), 4),
    Example(call("array_contains", field("list"), 1.0), true),
    Example(call("array_contains_all", field("list"), .constant([2, "x"])), true),
    Example(call("array_contains_any", field("list"), .constant(["y", 1])), true),
    Example(call("array_contains_any", field("list"), .constant([])), false),
    Example(call("array_concat", .constant([1]), list(2, field("gone"))), [1, 2, .null]),
    Example(call("array_reverse", .constant([1, 2])), [2, 1]), Example(call("array_first", .constant([])), nil),
    Example(call("array_last_n", field("list"), 2), ["x", 2]),
    Example(call("array_slice", field("list"), -2), ["x", 2]),
    Example(call("array_slice", field("list"), 1, 1), [2.0]),
    Example(call("array_index_of", field("list"), 2, "last"), 3),
    Example(call("array_index_of_all", field("list"), 2), [1, 3]), Example(call("sum", .constant([1, 2, "x"])), 3),
    Example(call("array_filter", field("list"), "e", call("equal", .variable("e"), 2)), [2.0, 2]),
    Example(
      call("array_transform", .constant([5, 6]), "e", "i", call("multiply", .variable("e"), .variable("i"))), [0, 6]),
    Example(call("map_get", field("map"), "a"), 1), Example(call("map_get", field("map"), "z"), nil),
    Example(call("map_get", .constant(["a": ["b": 1], "a.b": 2]), "a.b"), 2),
    Example(field("map.b.c"), 2),
    Example(call("map_set", field("map"), "a", field("gone"), "z", field("gone")), ["b": ["c": 2]]),
    Example(call("array_index_of", .constant([1, .null]), nil), 1),
    Example(call("array_index_of", field("gone"), 1), .null), Example(call("array_index_of", .constant([1]), nil), -1),
    Example(call("document_id", field("__path__")), .null),
    Example(call("map_set", field("map"), "a", nil, "d", 4), ["a": .null, "b": ["c": 2], "d": 4]),
    Example(call("map_remove", field("map"), "b"), ["a": 1]), Example(call("map_keys", field("map")), ["a", "b"]),
    Example(call("map_merge", field("map"), .constant(["a": 9])), ["a": 9, "b": ["c": 2]]),
    Example(call("map_entries", .constant(["k": 1])), [["k": "k", "v": 1]]), Example(call("map", "x", 1), ["x": 1]),
    Example(call("length", field("map")), 2), Example(call("type", field("int32")), "int32"),
    Example(call("type", field("gone")), nil), Example(call("is_type", field("int32"), "number"), true),
    Example(call("is_type", field("vector"), "vector"), true), Example(call("storage_size", "abc"), 4),
    Example(call("document_id", field("__name__")), "a"), Example(call("collection_id", field("__name__")), "c"),
    Example(call("dot_product", field("vector"), .constant(.vector([1, 0, 2]))), 7.0),
    Example(call("euclidean_distance", field("vector"), .constant(.vector([1, 2, 1]))), 2.0),
    Example(call("cosine_distance", field("vector"), field("vector")), 0.0),
    Example(call("vector_length", field("vector")), 3),
    Example(
      call("round", call("geo_distance", field("place"), .constant(.geoPoint(GeoPoint(latitude: 0, longitude: 1))))),
      111_195.0),
  ]

  @Test("Pipeline functions return documented values", arguments: arithmetic + comparison + strings + collections)
  func values(_ example: Example) async throws {
    let found = try await value(example.expression, for: Self.document)
    #expect(found == example.expected)
  }

  @Test(
    "A pipeline function with an undefined result fails",
    arguments: [
      call("add", 9_223_372_036_854_775_807, 1), call("divide", 1, 0), call("mod", 1, 0), call("add", "a", 1),
      call("abs", -9_223_372_036_854_775_808), call("sqrt", -1), call("ln", 0), call("log10", -1),
      call("array_get", "text", 0), call("map_get", .constant([1]), "a"), call("substring", "a", 0, -1),
      call("string_repeat", "a", -1), call("string_repeat", "abcd", 9_000_000_000), call("string_concat", "a", 1),
      call("join", .constant([1]), "-"), call("array_index_of", .constant([1]), 1, "middle"), call("is_type", 1, "int"),
      call("document_id", "a"), call("dot_product", field("vector"), .constant(.vector([1]))), call("error", "why"),
      call("regex_match", "a", "("),
      call("regex_find_all", call("string_repeat", "a", 1_000_000), "(a?){999}b"),
      call("and", true, 1), call("timestamp_add", "now", "day", 1), call("score"),
    ])
  func errors(_ expression: ExpressionMessage) async throws {
    #expect(try await value(call("is_error", expression), for: Self.document) == true)
    #expect(try await value(call("if_error", expression, "no"), for: Self.document) == "no")
    await #expect(throws: RPCStatus.self) { try await value(expression, for: Self.document) }
  }

  @Test("A negative length is rejected with production's error message", arguments: ["array_slice", "substring"])
  func negativeLength(function: String) async throws {
    let whole: ExpressionMessage = function == "substring" ? "text" : .constant([1, 2])
    let error = await #expect(throws: RPCStatus.self) {
      try await value(call(function, whole, 0, -1), for: Self.document)
    }
    #expect(error?.message.contains("length must be non-negative") == true)
  }

  @Test("A pipeline value may reach 16 MiB but not exceed it")
  func size() async throws {
    let document: Fields = ["t": .string(String(repeating: "x", count: 1 << 20)), "two": [1, 2]]
    let text = call("string_repeat", field("t"), 15)

    #expect(try await value(call("byte_length", text), for: document) == .integer(15 << 20))
    for tooLarge in [
      call("string_repeat", field("t"), 17), call("string_concat", text, field("t"), field("t")), list(text, text),
      call("array_transform", field("two"), "e", text), call("map", "a", text, "b", text),
    ] { #expect(try await value(call("is_error", tooLarge), for: document) == true) }
  }
}

private func reference(_ path: String) -> ExpressionMessage { .constant(.reference(database, key(path))) }
