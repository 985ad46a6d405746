// SPDX-License-Identifier: Apache-2.0

/// A regular expression that takes time in proportion to the text, whatever it says: all ways of matching are followed
/// at once (Thompson, "Regular Expression Search Algorithm", 1968). The standard library's tries them one after the
/// other, which for `(a+)+$` takes minutes on a line of thirty letters, and cannot be stopped.
///
/// It has `.` `[a-z]` `\d` `\w` `\s` `\b` `^` `$` `( | )` `* + ? {2,3}`; no look-around and no back-references.
struct Pattern: Hashable, Sendable {
  enum Step: Hashable, Sendable {
    case scalar(ScalarSet)
    /// Goes on at both places.
    case fork(Int, Int)
    case jump(Int)
    case assertion(Assertion)
    case end
  }

  enum Assertion: Hashable, Sendable { case start, end, wordBoundary, noWordBoundary }

  let program: [Step]

  /// A pattern without capital letters matches in either case.
  /// - Throws: why it is no pattern, and where.
  init(_ text: String) throws(TextError) {
    var parser = PatternParser(text)
    let node = try parser.parse()
    var compiler = PatternCompiler()
    try compiler.add(node)
    program = compiler.program + [.end]
  }

  /// Text that stands for itself.
  init(literal text: String, isExact: Bool) {
    program = text.unicodeScalars.map { .scalar(ScalarSet($0, isExact: isExact)) } + [.end]
  }

  func matches(_ text: String) -> Bool {
    var run = PatternRun(program, Array(text.unicodeScalars.prefix(PatternRun.longestText)))
    return run.matches()
  }

  /// Where it matches, from left to right, each as long as it can be; empty matches left out.
  func ranges(in text: [Unicode.Scalar]) -> [Range<Int>] {
    var run = PatternRun(program, text)
    return run.ranges()
  }
}

/// Scalars that one step takes.
struct ScalarSet: Hashable, Sendable {
  var ranges: [ClosedRange<UInt32>]
  var isNegated = false
  var isExact = true

  init(_ ranges: [ClosedRange<UInt32>], isNegated: Bool = false, isExact: Bool = true) {
    self.ranges = ranges
    self.isNegated = isNegated
    self.isExact = isExact
  }

  init(_ scalar: Unicode.Scalar, isExact: Bool) { self.init([scalar.value...scalar.value], isExact: isExact) }

  static let any = ScalarSet([0...0x10FFFF])
  static let digits: [ClosedRange<UInt32>] = [0x30...0x39]
  static let spaces: [ClosedRange<UInt32>] = [0x09...0x0D, 0x20...0x20, 0xA0...0xA0, 0x2000...0x200A, 0x3000...0x3000]
  /// Letters and digits of ASCII with the underscore, and everything beyond ASCII that is neither space nor sign.
  static let words: [ClosedRange<UInt32>] = [0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A, 0xC0...0x1FFF]

  func contains(_ scalar: Unicode.Scalar) -> Bool {
    if has(scalar.value) { return !isNegated }
    guard !isExact else { return isNegated }
    let found: Bool
    if scalar.isASCII {
      found = (0x41...0x5A).contains(scalar.value & 0xDF) && has(scalar.value ^ 0x20)
    } else {
      let others = [scalar.properties.lowercaseMapping, scalar.properties.uppercaseMapping]
      found = others.contains { other in
        other.unicodeScalars.count == 1 && other.unicodeScalars.first.map { has($0.value) } == true
      }
    }
    return found != isNegated
  }

  private func has(_ value: UInt32) -> Bool { ranges.contains { $0.contains(value) } }
}
