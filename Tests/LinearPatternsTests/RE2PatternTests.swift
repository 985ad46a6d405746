// SPDX-License-Identifier: Apache-2.0
import LinearPatterns
import SeededRandom
import Testing

@Suite("RE2 pattern syntax")
struct RE2PatternTests {
  @Test(
    "An RE2 pattern is matched against the whole text",
    arguments: [
      ("a.c", "abc", true), ("a.c", "abcd", false), ("b", "abc", false), ("", "", true), ("a|ab", "ab", true),
      (".", "\n", false), ("(?s).", "\n", true), ("(?i)a(?-i)b", "Ab", true), ("(?i)a(?-i)b", "AB", false),
      ("(?i:a)b", "AB", false), ("(?m)a$\\n^b", "a\nb", true), ("a$\\nb", "a\nb", false), ("\\w+", "é", false),
      ("\\s", "\u{a0}", false), ("\\pL+", "aé", true), ("\\p{Lu}\\P{Lu}", "Aa", true), ("[\\p{Nd}x]+", "3x", true),
      ("[[:alpha:]_]+", "ab_", true), ("[[:^digit:]]", "1", false), ("[^a]", "\n", true), ("\\Qa+b\\E", "a+b", true),
      ("\\x41\\x{1F600}", "A😀", true), ("\\Aab\\z", "ab", true), ("a\\Bb", "ab", true), ("a\\b.b", "a b", true),
      ("a{2,3}", "aaa", true), ("a{2,3}", "aaaa", false), ("a{2", "a{2", true), ("a{,3}", "aaa", false),
      ("(?P<x>a)(?<y>b)", "ab", true), ("[]a]+", "]a", true), ("[a-]+", "a-", true), ("(a{1,100}){1,10}", "aaaa", true),
      ("\\d\\D\\S\\W", "1ab!", true), ("(?U)a*?b", "aab", true), ("a\\.b", "axb", false),
      ("\\Qab\\E*", "abbb", true), ("\\Qab\\E*", "abab", false), ("a(?i)*", "aa", true), ("\\101\\07", "A\u{7}", true),
      ("{1,02}a", "{1,02}a", true), ("(?i)k\u{3C3}ſß", "\u{212A}\u{3C2}Sẞ", true), ("(?i)\\w[[:lower:]]", "ſK", true),
      ("(?i)[\\W]", "s", false), ("(?i)\\P{Lu}", "a", false), ("(?i)[\\P{Lu}]", "1", true),
    ])
  func wholes(_ pattern: String, _ text: String, _ expected: Bool) throws {
    #expect(try Pattern(re2: pattern).matchesWhole(text) == expected)
  }

  @Test(
    "An invalid pattern is rejected with its position",
    arguments: [
      ("[", 1), ("(a", 1), ("a)", 2), ("*a", 1), ("a**", 3), ("a++", 3), ("a{1001}", 2), ("(a)\\1", 4), ("a(?=b)", 2),
      ("\\p{Greek}", 1), ("[b-a]", 2), ("\\", 1), ("\\x{110000}", 1), ("(?P<x>a)(?P<x>b)", 9), ("\\y", 1),
      ("(?i)*", 5), ("{2}a", 1), ("a|{2}", 3), ("(?i-)a", 1), ("\\é", 1), ("[[:letter:]]", 2), ("\\p{Lu", 1),
      ("\\8", 1), ("((a{20}){20}){20}", 14), ("a{12345678}", 2),
    ])
  func refusals(_ pattern: String, _ column: Int) {
    let error = #expect(throws: PatternError.self) { try Pattern(re2: pattern) }
    #expect(error?.column == column && error?.reason.isEmpty == false, "\(error as Any)")
  }

  @Test(
    "A text is split where an RE2 pattern matches",
    arguments: [
      ("a,b,,c", ",", ["a", "b", "", "c"]), ("a,b,,", ",", ["a", "b"]), ("", ",", [""]), (",a", ",", ["", "a"]),
      ("abc", "", ["", "a", "b", "c"]), ("a1b22c", "[0-9]+", ["a", "b", "c"]), ("abc", "x", ["abc"]), (",", ",", []),
    ])
  func splits(_ text: String, _ pattern: String, _ expected: [String]) throws {
    var work = 10_000
    #expect(try Pattern(re2: pattern).split(text, work: &work) == expected)
    #expect(work < 10_000)
  }

  @Test(
    "RE2 matches are replaced, including references to groups",
    arguments: [
      ("aXbX", "[A-Z]", "-", "a-b-"), ("abab", "(a)(b)", "$2$1", "baba"), ("abab", "(?P<x>a)b", "<${x}>", "<a><a>"),
      ("abab", "a", "$0$0", "aabaab"), ("a", "a", "\\$0\\\\", "$0\\"), ("a", "a", "$", "$"), ("aa", "a*", "x", "xx"),
      ("abc", "", "-", "-a-b-c-"), ("aab", "(a+?)(a*)", "[$1|$2]", "[a|a]b"), ("ab", "(a)|(b)", "<$1$2>", "<a><b>"),
      ("abc", "(b)", "$12", "ab2c"), ("xay", "a|ab", "-", "x-y"), ("xaby", "a|ab", "-", "x-by"),
      ("aa", "(|a)*", "<$0>", "<>a<>a<>"), ("aa", "(|a)+", "<$0>", "<>a<>a<>"), ("ab", "(a|b??)*", "<$0$1>", "<abb><>"),
    ])
  func replacements(_ text: String, _ pattern: String, _ template: String, _ expected: String) throws {
    var work = 10_000
    #expect(try Pattern(re2: pattern).replacing(in: text, with: template, work: &work) == expected)
  }

  @Test("An unknown group reference is an error, and so is excessive work")
  func failures() throws {
    var work = 10_000
    #expect(throws: Pattern.EditFailure.unknownGroup) {
      try Pattern(re2: "a").replacing(in: "a", with: "$1", work: &work)
    }
    #expect(throws: Pattern.EditFailure.unknownGroup) {
      try Pattern(re2: "a").replacing(in: "a", with: "${x}", work: &work)
    }
    let text = String(repeating: "a", count: 5000)
    #expect(throws: Pattern.EditFailure.tooMuchWork) { try Pattern(re2: "a*z|a").split(text, work: &work) }
    #expect(try Pattern(re2: "(a|a)*(a+)+b").matchesWhole(text) == false)
  }

  @Test("10,000 mutated patterns are parsed or rejected and match in bounded steps")
  func mutations() {
    let seeds = [
      "(?i)a(b|c)*d{2,5}[^x-z\\d]+$", "\\p{Lu}\\Qa.b\\E(?P<n>x)+?", "[[:alpha:]-\\x{41}]{3}|^(?s:.)*\\b",
      "((a?){9}){9}\\z",
    ]
    let parts = [
      "(", ")", "[", "]", "{", "}", "*", "+", "?", "|", "\\", "^", "$", "-", "1", "9", "(?", ":", "p{", "😀", "[:",
    ]
    var generator = SeededGenerator(seed: 3)
    var read = 0
    for round in 0..<10_000 {
      var scalars = Array(generator.pick(seeds).unicodeScalars)
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        let place = Int.random(in: 0...scalars.count, using: &generator)
        let end = min(scalars.count, place + Int.random(in: 0...2, using: &generator))
        scalars.replaceSubrange(place..<end, with: generator.pick(parts).unicodeScalars)
      }
      let source = String(String.UnicodeScalarView(scalars))
      guard let pattern = try? Pattern(re2: source) else { continue }
      read += 1
      var work = 100_000
      let parts = try? pattern.split("aBcd1-x.b😀\n", work: &work)
      #expect((parts == nil) == (work < 0), "round \(round): \(source)")
      if pattern.matchesWhole("aBcd") { #expect(pattern.stepCount >= 1) }
    }
    #expect(read > 1000 && read < 9900, "\(read)")
  }
}
