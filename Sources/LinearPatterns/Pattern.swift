// SPDX-License-Identifier: Apache-2.0

/// A regular expression that takes time in proportion to the text, whatever it says: all ways of matching are followed
/// at once (Thompson, "Regular Expression Search Algorithm", 1968). The standard library's tries them one after the
/// other, which for `(a+)+$` takes minutes on a line of thirty letters, and cannot be stopped.
///
/// It has `.` `[a-z]` `\d` `\w` `\s` `\b` `^` `$` `( | )` `* + ? {2,3}`; no look-around and no back-references.
package struct Pattern: Hashable, Sendable {
  enum Step: Hashable, Sendable {
    case scalar(ScalarSet)
    /// Goes on at both places, rather at the first.
    case fork(Int, Int)
    case jump(Int)
    case assertion(Assertion)
    /// Notes the place as a bound of a group: its beginning at twice its number, its end behind that.
    case save(Int)
    case end
  }

  enum Assertion: Hashable, Sendable { case start, end, lineStart, lineEnd, wordBoundary, noWordBoundary }

  let program: [Step]
  /// The names of groups, by number; the whole is none of them.
  let groups: [String?]
  let dialect: PatternDialect

  /// A pattern to search with: without capital letters it matches in either case.
  /// - Throws: why it is no pattern, and where.
  package init(_ text: String) throws(PatternError) { try self.init(text, .search) }

  /// A pattern in the syntax of RE2, as programs write it. Of Unicode's properties it has general categories, no scripts.
  /// - Throws: why it is no pattern, and where.
  package init(re2 text: String) throws(PatternError) { try self.init(text, .re2) }

  private init(_ text: String, _ dialect: PatternDialect) throws(PatternError) {
    var parser = PatternParser(text, dialect)
    let node = try parser.parse()
    var compiler = PatternCompiler(dialect)
    try compiler.add(node)
    program = compiler.program + [.end]
    groups = parser.groups
    self.dialect = dialect
  }

  /// Text that stands for itself.
  package init(literal text: String, isExact: Bool) {
    program = text.unicodeScalars.map { .scalar(ScalarSet($0, isExact: isExact)) } + [.end]
    groups = []
    dialect = .search
  }

  /// How much work one character is, at most.
  package var stepCount: Int { program.count }

  /// Whether it matches somewhere in the first few thousand characters of a text.
  package func matches(_ text: String) -> Bool {
    var run = PatternRun(self, Array(text.unicodeScalars.prefix(PatternRun.longestText)))
    return run.matches()
  }

  /// Whether it matches all of a text, of any length.
  /// - Parameter isOver: whether nobody waits for the answer any more, which is no then.
  package func matchesWhole(_ text: String, unless isOver: () -> Bool = { false }) -> Bool {
    var run = PatternRun(self, Array(text.unicodeScalars))
    return run.matchesWhole(unless: isOver)
  }

  /// Where it matches, from left to right, each as long as it can be; empty matches left out.
  package func ranges(in text: [Unicode.Scalar]) -> [Range<Int>] {
    var run = PatternRun(self, text)
    return run.ranges()
  }
}

/// Which syntax a pattern is written in.
enum PatternDialect: Hashable, Sendable {
  /// For people who look for something: the case of letters matters if one is a capital, and `.` is any character.
  case search
  /// RE2's.
  case re2

  /// Steps of a pattern; it costs as many comparisons per letter.
  var mostSteps: Int { self == .search ? 256 : 10_000 }
  var mostRepeats: Int { self == .search ? 100 : 1000 }
  /// How deep groups may stand in each other.
  var deepest: Int { self == .search ? 20 : 100 }

  func isWord(_ scalar: Unicode.Scalar) -> Bool { ScalarSet(words).contains(scalar) }

  var words: [ClosedRange<UInt32>] {
    self == .search ? ScalarSet.words : [0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A]
  }

  var spaces: [ClosedRange<UInt32>] {
    self == .search ? ScalarSet.spaces : [0x09...0x0A, 0x0C...0x0D, 0x20...0x20]
  }
}
