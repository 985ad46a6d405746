// SPDX-License-Identifier: Apache-2.0

/// A regular expression that takes time in proportion to the text, whatever the pattern: all ways of matching are
/// followed at once (Thompson, "Regular Expression Search Algorithm", 1968). The standard library tries them one after
/// the other, which for `(a+)+$` takes minutes on a line of thirty letters, and cannot be stopped.
///
/// It has `.` `[a-z]` `\d` `\w` `\s` `\b` `^` `$` `( | )` `* + ? {2,3}`; no look-around and no back-references.
package struct Pattern: Hashable, Sendable {
  enum Step: Hashable, Sendable {
    case scalar(ScalarSet)
    /// Goes on at both steps, the first preferred.
    case fork(Int, Int)
    case jump(Int)
    case assertion(Assertion)
    /// Notes the place as a bound of a group: its beginning in the slot of twice its number, its end in the next.
    case save(Int)
    case end
  }

  enum Assertion: Hashable, Sendable { case start, end, lineStart, lineEnd, wordBoundary, noWordBoundary }

  let program: [Step]
  /// The names of groups, by number; the whole match is not among them.
  let groups: [String?]
  let dialect: PatternDialect

  /// A pattern to search with: without capital letters it matches in either case.
  /// - Throws: `PatternError` with the reason why it is no pattern, and the place.
  package init(_ text: String) throws(PatternError) { try self.init(text, .search) }

  /// A pattern in the syntax of RE2, as in programs. Of Unicode's properties it has general categories, no scripts.
  /// - Throws: `PatternError` with the reason why it is no pattern, and the place.
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

  /// A pattern for a text that stands for itself.
  package init(literal text: String, isExact: Bool) {
    program = text.unicodeScalars.map { .scalar(ScalarSet($0, isExact: isExact)) } + [.end]
    groups = []
    dialect = .search
  }

  /// The most work for one character.
  package var stepCount: Int { program.count }

  /// Whether the pattern matches somewhere in the first few thousand characters of a text.
  package func matches(_ text: String) -> Bool {
    var run = PatternRun(self, Array(text.unicodeScalars.prefix(PatternRun.longestText)))
    return run.matches()
  }

  /// Whether the pattern matches all of a text, of any length.
  /// - Parameter isOver: whether no caller waits for the answer any more; the answer is no then.
  package func matchesWhole(_ text: String, unless isOver: () -> Bool = { false }) -> Bool {
    var run = PatternRun(self, Array(text.unicodeScalars))
    return run.matchesWhole(unless: isOver)
  }

  /// The places of the matches, from left to right, each as long as it can be; empty matches left out.
  package func ranges(in text: [Unicode.Scalar]) -> [Range<Int>] {
    var run = PatternRun(self, text)
    return run.ranges()
  }
}

/// The syntax in which a pattern is written.
enum PatternDialect: Hashable, Sendable {
  /// The syntax for people who search: the case of letters matters if one is a capital, and `.` is any character.
  case search
  /// The syntax of RE2.
  case re2

  /// The most steps of a pattern; it costs as many comparisons per letter.
  var mostSteps: Int { self == .search ? 256 : 10_000 }
  var mostRepeats: Int { self == .search ? 100 : 1000 }
  /// The greatest depth of groups within groups.
  var deepest: Int { self == .search ? 20 : 100 }

  func isWord(_ scalar: Unicode.Scalar) -> Bool { ScalarSet(words).contains(scalar) }

  var words: [ClosedRange<UInt32>] {
    self == .search ? ScalarSet.words : [0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A]
  }

  var spaces: [ClosedRange<UInt32>] {
    self == .search ? ScalarSet.spaces : [0x09...0x0A, 0x0C...0x0D, 0x20...0x20]
  }
}
