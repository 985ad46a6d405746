// SPDX-License-Identifier: Apache-2.0

/// A regular expression that, for every pattern, matches in time linear in the length of the text. It follows all
/// possible matches simultaneously (Thompson, "Regular Expression Search Algorithm", 1968). In contrast, the standard
/// library tries the possible matches one after the other. For the pattern `(a+)+$`, a line of thirty letters then
/// takes minutes and cannot be interrupted.
///
/// Supports `.` `[a-z]` `\d` `\w` `\s` `\b` `^` `$` `( | )` `* + ? {2,3}`. Does not support lookaround and
/// back-references.
package struct Pattern: Hashable, Sendable {
  enum Step: Hashable, Sendable {
    case scalar(ScalarSet)
    /// Continues at both steps, and prefers the first.
    case fork(Int, Int)
    case jump(Int)
    case assertion(Assertion)
    /// Stores the position as a bound of a group. Group n starts at slot 2n and ends at slot 2n + 1.
    case save(Int)
    case end
  }

  enum Assertion: Hashable, Sendable { case start, end, lineStart, lineEnd, wordBoundary, noWordBoundary }

  let program: [Step]
  /// The names of the groups, indexed by group number; does not include the whole match.
  let groups: [String?]
  let dialect: PatternDialect

  /// Parses a pattern that a user searches for. It ignores case unless it contains a capital letter.
  /// - Throws: `PatternError` with the reason why the pattern is invalid, and the position.
  package init(_ text: String) throws(PatternError) { try self.init(text, .search) }

  /// Parses a pattern in RE2 syntax. Supports the general categories of Unicode, but not its scripts.
  /// - Throws: `PatternError` with the reason why the pattern is invalid, and the position.
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

  /// Creates a pattern that matches literal text.
  package init(literal text: String, isExact: Bool) {
    program = text.unicodeScalars.map { .scalar(ScalarSet($0, isExact: isExact)) } + [.end]
    groups = []
    dialect = .search
  }

  /// The maximum number of steps that are needed for one character.
  package var stepCount: Int { program.count }

  /// Whether the pattern matches anywhere in the first few thousand characters of a text.
  package func matches(_ text: String) -> Bool {
    var run = PatternRun(self, Array(text.unicodeScalars.prefix(PatternRun.longestText)))
    return run.matches()
  }

  /// Whether the pattern matches a whole text of any length.
  /// - Parameter isOver: returns whether the caller no longer needs the result. If so, the function returns false.
  package func matchesWhole(_ text: String, unless isOver: () -> Bool = { false }) -> Bool {
    var run = PatternRun(self, Array(text.unicodeScalars))
    return run.matchesWhole(unless: isOver)
  }

  /// The ranges of the nonempty matches from left to right. Each match is as long as possible.
  package func ranges(in text: [Unicode.Scalar]) -> [Range<Int>] {
    var run = PatternRun(self, text)
    return run.ranges()
  }
}

/// The syntax of a pattern.
enum PatternDialect: Hashable, Sendable {
  /// The syntax for user searches: case matters if the pattern contains a capital letter, and `.` matches any
  /// character.
  case search
  /// The syntax of RE2.
  case re2

  /// The maximum number of steps in a pattern. For each character of a text, up to this number of comparisons is
  /// needed.
  var mostSteps: Int { self == .search ? 256 : 10_000 }
  var mostRepeats: Int { self == .search ? 100 : 1000 }
  /// The maximum nesting of groups.
  var deepest: Int { self == .search ? 20 : 100 }

  func isWord(_ scalar: Unicode.Scalar) -> Bool { ScalarSet(words).contains(scalar) }

  var words: [ClosedRange<UInt32>] {
    self == .search ? ScalarSet.words : [0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A]
  }

  var spaces: [ClosedRange<UInt32>] {
    self == .search ? ScalarSet.spaces : [0x09...0x0A, 0x0C...0x0D, 0x20...0x20]
  }
}

extension Pattern {
  /// Whether the pattern matches anywhere in a text of any length.
  /// - Parameter isOver: returns whether the caller no longer needs the result. If so, the function returns false.
  package func matchesSomewhere(_ text: String, unless isOver: () -> Bool = { false }) -> Bool {
    var run = PatternRun(self, Array(text.unicodeScalars))
    return run.matches(unless: isOver)
  }

  /// The matched parts of a text, from left to right. After an empty match, the search continues one character later.
  /// - Parameters:
  ///   - most: the maximum number of matches.
  ///   - work: the number of allowed steps. The steps that were needed are subtracted.
  ///   - isOver: returns whether the caller no longer needs the matches. If so, `work` becomes zero.
  package func matches(
    in text: String, most: Int, work: inout Int, unless isOver: @escaping () -> Bool = { false }
  ) throws(EditFailure) -> [String] {
    var machine = PatternMachine(self, Array(text.unicodeScalars), work: work, isOver: isOver)
    var (found, place) = ([String](), 0)
    while found.count < most, place <= machine.text.count, let bounds = machine.match(from: place) {
      found.append(String(String.UnicodeScalarView(machine.text[bounds[0]..<bounds[1]])))
      place = bounds[1] == bounds[0] ? bounds[1] + 1 : bounds[1]
    }
    work = machine.work
    if work < 0 { throw .tooMuchWork }
    return found
  }
}

/// The reason why a text is not a valid regular expression.
package struct PatternError: Error, Hashable, Sendable {
  /// The column of the first invalid character, from 1.
  package var column: Int
  package var reason: String

  package var text: String { "column \(column): \(reason)" }
}

/// Compiles the syntax tree of a pattern to steps.
struct PatternCompiler {
  private let longest: Int
  private(set) var program: [Pattern.Step] = []
  /// The number of nodes added so far. It has a separate limit, because a repeated empty group adds nodes but no steps.
  private var additions = 0

  init(_ dialect: PatternDialect) { longest = dialect.mostSteps }

  mutating func add(_ node: PatternParser.Node) throws(PatternError) {
    additions += 1
    if additions > longest * 16 { throw Self.tooLong }
    switch node {
    case .scalar(let set): try append(.scalar(set))
    case .assertion(let assertion): try append(.assertion(assertion))
    case .sequence(let nodes): for node in nodes { try add(node) }
    case .choice(let nodes): try add(choice: nodes[...])
    case .group(let node, let number):
      try append(.save(2 * number))
      try add(node)
      try append(.save(2 * number + 1))
    case .repeated(let node, let least, let most, let isLazy):
      try add(node, least: least, most: most, isLazy)
    }
  }

  private mutating func add(choice nodes: ArraySlice<PatternParser.Node>) throws(PatternError) {
    var jumps: [Int] = []
    for (offset, node) in nodes.enumerated() {
      if offset == nodes.count - 1 {
        try add(node)
        break
      }
      let fork = program.count
      try append(.fork(fork + 1, 0))
      try add(node)
      jumps.append(program.count)
      try append(.jump(0))
      program[fork] = .fork(fork + 1, program.count)
    }
    for jump in jumps { program[jump] = .jump(program.count) }
  }

  private mutating func add(
    _ node: PatternParser.Node, least: Int, most: Int?, _ isLazy: Bool
  ) throws(PatternError) {
    var forks: [Int] = []
    if let most {
      for _ in 0..<least { try add(node) }
      // Compiles to (x(x(x)?)?)?, since each repeat requires the previous one.
      for _ in least..<most {
        forks.append(try appendFork())
        try add(node)
      }
    } else if least == 0, !node.canBeEmpty {
      forks.append(try appendFork())
      try add(node)
      try append(.jump(forks[0]))
    } else {
      // Compiles x* to (x+)?. Otherwise an empty match of x would be followed by the rest of x again, unlike in RE2.
      if least == 0 { forks.append(try appendFork()) }
      for _ in 1..<max(least, 1) { try add(node) }
      let start = program.count
      try add(node)
      let fork = try appendFork()
      program[fork] = isLazy ? .fork(fork + 1, start) : .fork(start, fork + 1)
    }
    for fork in forks { program[fork] = isLazy ? .fork(program.count, fork + 1) : .fork(fork + 1, program.count) }
  }

  /// - Returns: the position of the fork. Its targets are set later.
  private mutating func appendFork() throws(PatternError) -> Int {
    try append(.fork(0, 0))
    return program.count - 1
  }

  private mutating func append(_ step: Pattern.Step) throws(PatternError) {
    if program.count >= longest { throw Self.tooLong }
    program.append(step)
  }

  private static let tooLong = PatternError(column: 1, reason: "the pattern is too long")
}
