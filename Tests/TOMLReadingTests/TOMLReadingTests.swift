// SPDX-License-Identifier: Apache-2.0
import TOMLReading
import Testing

@Suite struct TOMLReadingTests {
  private func read(_ text: String) throws(TOMLError) -> [String: TOMLValue] {
    let table = try TOMLTable(parsing: text)
    return Dictionary(uniqueKeysWithValues: table.keys.map { ($0, table[$0] ?? .string("nothing")) })
  }

  private static func table(_ entries: (String, TOMLValue)...) throws -> TOMLValue {
    // Built by the reader too: what is compared is the form of the text.
    let lines = entries.map { "\($0.0) = \(text(of: $0.1))" }.joined(separator: "\n")
    return .table(try TOMLTable(parsing: lines))
  }

  private static func text(of value: TOMLValue) -> String {
    switch value {
    case .string(let text): "'\(text)'"
    case .integer(let number): "\(number)"
    case .float(let number): "\(number)"
    case .boolean(let flag): "\(flag)"
    case .time(let text): text
    case .array(let elements): "[\(elements.map(text(of:)).joined(separator: ", "))]"
    case .table(let table):
      "{\(table.keys.map { "'\($0)' = \(text(of: table[$0] ?? .boolean(false)))" }.joined(separator: ", "))}"
    }
  }

  @Test(
    "Values are parsed as TOML 1.0 specifies",
    arguments: [
      (#""a\tb\"\\\u00e9\U0001F525""#, .string("a\tb\"\\é🔥")), ("'c:\\x'", .string("c:\\x")),
      ("\"\"\"\none \\\n   two \"\"q\"\"\"\"\"", .string("one two \"\"q\"\"")),
      ("'''\nraw\r\n'x''''", .string("raw\n'x'")),
      ("\"\"", .string("")), ("0", .integer(0)), ("-17", .integer(-17)), ("+1_000", .integer(1000)),
      ("0xDead_beef", .integer(0xDEAD_BEEF)), ("0o755", .integer(0o755)), ("0b1_0", .integer(2)),
      ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)), ("1.5", .float(1.5)),
      ("-2e-3", .float(-0.002)), ("6.02_1E+2", .float(602.1)), ("-inf", .float(-.infinity)), ("true", .boolean(true)),
      ("1979-05-27T07:32:00.5-08:00", .time("1979-05-27T07:32:00.5-08:00")),
      ("2024-02-29 23:59:59z", .time("2024-02-29 23:59:59z")), ("07:32:00", .time("07:32:00")),
      ("[ 1, # one\n 'a',\n]", .array([.integer(1), .string("a")])),
      ("[[], [1]]", .array([.array([]), .array([.integer(1)])])),
    ] as [(String, TOMLValue)])
  func values(text: String, value: TOMLValue) throws {
    #expect(try read("v = \(text) # comment\n") == ["v": value])
    #expect(try read("v=\(text)") == ["v": value])
  }

  @Test("Tables from headers, dotted keys and inline tables keep their key order")
  func tables() throws {
    let text = """
      z = 1
      a.b = 2
      "q k".'c d' = {}
      [t . u]
      x = {p = 1, q.r = 'é'}
      [[l]]
      n = 1
      [[l]]
      [l.m]
      k = true
      [t]
      y = 3
      """
    let table = try TOMLTable(parsing: text)
    #expect(table.keys == ["z", "a", "q k", "t", "l"])
    #expect(try table["a"] == Self.table(("b", .integer(2))))
    #expect(table["t"]?.table?.keys == ["u", "y"])
    #expect(table["t"]?.table?["u"]?.table?["x"]?.table?["q"]?.table?["r"]?.string == "é")
    #expect(table["l"]?.array?.count == 2 && table["l"]?.array?.last?.table?["m"]?.table?["k"]?.bool == true)
    #expect(try TOMLTable(parsing: "\u{FEFF}a = 1\r\n")["a"] == .integer(1))
    // Two spellings of one letter are two keys.
    #expect(try TOMLTable(parsing: "'\u{e9}' = 1\n'e\u{301}' = 2").keys.count == 2)
  }

  @Test(
    "Invalid TOML is reported with line, column and the expected syntax",
    arguments: [
      ("[.keys]", 1, 2, "expected a key, found \".\""), ("[#keys]", 1, 2, "expected a key, found \"#\""),
      ("a = 1\n[{keys]", 2, 2, "expected a key"), ("[(keys)]", 1, 2, "expected a key"), ("[é]", 1, 2, "found \"é\""),
      ("[*]", 1, 2, "expected a key"), ("[@x]", 1, 2, "expected a key"), ("[/keys]", 1, 2, "expected a key"),
      ("[=]", 1, 2, "expected a key"), ("[,]", 1, 2, "expected a key"), ("[]", 1, 2, "expected a key"),
      ("[keys", 1, 6, "expected \"]\""), ("[a.}]", 1, 4, "expected a key"), ("[[a]", 1, 4, "expected \"]]\""),
      ("x = 1 = 2", 1, 7, "expected the end of the line, found \"=\""), ("= 1", 1, 1, "expected a key"),
      ("a 1", 1, 3, "expected \"=\""), ("a =", 1, 4, "expected a value, found the end of the file"),
      ("é = 1", 1, 1, "expected a key"), ("'é' = [1,\n 2", 1, 7, "this array has no end"),
      ("a = \"x", 1, 5, "this string has no end"), ("a = '''x\n", 1, 5, "this string has no end"),
      ("a = \"\u{1}\"", 1, 6, "control character"), ("# \u{7f}", 1, 3, "control character"),
      ("a = 1\rb = 2", 1, 6, "end of the line"),
      (#"a = "\q""#, 1, 6, "after a backslash"), (#"a = "\ud800""#, 1, 6, "not a Unicode scalar"),
      ("a = ember", 1, 5, "ember is not a value; put text in quotes"), ("a = 01", 1, 5, "01 is not a value"),
      ("a = 1_", 1, 5, "1_ is not a value"), ("a = 9223372036854775808", 1, 5, "does not fit into 64 bits"),
      ("a = 1e999", 1, 5, "does not fit into 64 bits"),
      ("a = 2023-02-29", 1, 5, "not a valid date or time"), ("a = 24:00:00", 1, 5, "not a valid date or time"),
      ("a = 1\na = 2", 2, 1, "\"a\" is already defined"), ("a.b = 1\n[a]", 2, 1, "\"a\" is already defined"),
      ("[a.b]\n[a]\nb.c = 1", 3, 1, "not a table that can be extended here"),
      ("a = {}\na.b = 1", 2, 1, "not a table that can"),
      ("[a]\n[a]", 2, 1, "already defined"), ("[[a]]\n[a]", 2, 1, "already defined"),
      ("a = []\n[[a]]", 2, 1, "already defined"),
      ("a = 1\n[a.b]", 2, 1, "not a table that can be extended"), ("a = {x = 1,}", 1, 12, "expected a key"),
      ("a = {x = 1\n}", 1, 11, "expected \",\" or \"}\""), ("a = [1 2]", 1, 8, "expected \",\" or \"]\""),
    ])
  func errors(text: String, line: Int, column: Int, reason: String) {
    #expect { try TOMLTable(parsing: text) } throws: { error in
      guard let error = error as? TOMLError else { return false }
      return error.line == line && error.column == column && error.reason.contains(reason)
    }
  }

  @Test("TOML nesting is limited, but the length of a TOML file is not", arguments: ["[", "{a=", "a."])
  func depth(part: String) throws {
    let deep = String(repeating: part, count: 200_000)
    #expect { try TOMLTable(parsing: "x = 1\n" + (part == "a." ? deep : "v = " + deep)) } throws: {
      ($0 as? TOMLError)?.reason.hasPrefix("more than 100 ") == true
    }
    #expect { try TOMLTable(parsing: "[\(String(repeating: "a.", count: 200_000))a]") } throws: { $0 is TOMLError }
    #expect(
      try TOMLTable(parsing: "v = " + String(repeating: "[", count: 90) + String(repeating: "]", count: 90)).keys == [
        "v"
      ])
    let long = (0..<5_000).map { "k\($0) = \($0)" }.joined(separator: "\n")
    #expect(try TOMLTable(parsing: long).keys.count == 5_000)
  }
}
