// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import Testing

@Suite("JSON syntax")
struct JSONSyntaxTests {
  @Test("Parsed JSON values record their line and column")
  func places() throws {
    let syntax = try JSONSyntax(parsing: "{\r\n\t\"🐵\": [1,\n  2.0]}")

    let list = try #require(syntax["🐵"])
    #expect((list.line, list.column) == (2, 7))
    guard case .array(let elements) = list.kind else {
      Issue.record("not an array")
      return
    }
    #expect(elements.map(\.line) == [2, 3])
    #expect(elements.map(\.column) == [8, 3])
    #expect(elements.map(\.kindName) == ["an integer", "a number"])
  }

  @Test("JSON escape sequences decode to their characters")
  func escapes() throws {
    let syntax = try JSONSyntax(parsing: #""\"\\\/\b\f\n\r\t\u00e9\uD83D\uDC35""#)

    guard case .string(let text) = syntax.kind else {
      Issue.record("not a string")
      return
    }
    #expect(Array(text.utf8) == Array("\"\\/\u{8}\u{c}\n\r\té🐵".utf8))
  }

  @Test("Canonically equivalent names with different bytes are different names")
  func equivalentNames() throws {
    let syntax = try JSONSyntax(parsing: "{\"e\u{301}\": 1, \"é\": 2}")

    guard case .integer(2)? = syntax["é"]?.kind, case .integer(1)? = syntax["e\u{301}"]?.kind else {
      Issue.record("names were mixed up")
      return
    }
  }

  @Test("Control characters outside ASCII are escaped for terminals too")
  func controlCharacters() {
    #expect(JSONSyntax(.string("\u{1b}[2J\u{9b}é")).lineText == "\"\\u001b[2J\\u009bé\"")
  }
}
