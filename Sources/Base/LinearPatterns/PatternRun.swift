// SPDX-License-Identifier: Apache-2.0

/// One pass of a pattern over a text: the steps that it has reached, and for each the place where its run began.
struct PatternRun {
  /// The number of characters up to which longer texts are looked at; no row shows more.
  static let longestText = 4000
  /// The number of hits of one row that are looked for; no row has room for more.
  private static let mostRanges = 64
  /// The number of characters between two questions whether a caller still waits.
  static let stride = 64

  private let program: [Pattern.Step]
  private let dialect: PatternDialect
  private let text: [Unicode.Scalar]
  /// The places where the runs began that have reached each step; `nil` for none.
  private var begins: [Int?]
  private var reached: [Int] = []
  private var pending: [Int] = []

  init(_ pattern: Pattern, _ text: [Unicode.Scalar]) {
    program = pattern.program
    dialect = pattern.dialect
    self.text = text
    begins = Array(repeating: nil, count: program.count)
  }

  /// - Parameter isOver: asked now and then; once it is true, nothing matches.
  mutating func matches(unless isOver: () -> Bool = { false }) -> Bool {
    for place in 0...text.count {
      if place % Self.stride == 0, isOver() { return false }
      reach(0, from: place, at: place)
      if begins[program.count - 1] != nil { return true }
      advance(over: place)
    }
    return false
  }

  /// Whether all of the text is one match.
  /// - Parameter isOver: asked now and then; once it is true, nothing matches.
  mutating func matchesWhole(unless isOver: () -> Bool = { false }) -> Bool {
    reach(0, from: 0, at: 0)
    for place in text.indices {
      if place % Self.stride == 0, isOver() { return false }
      advance(over: place)
      if reached.isEmpty { return false }
    }
    return begins[program.count - 1] != nil
  }

  mutating func ranges() -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    var start = 0
    while start < text.count, ranges.count < Self.mostRanges, let range = first(from: start) {
      if !range.isEmpty { ranges.append(range) }
      start = max(range.upperBound, start + 1)
      if range.isEmpty { start = max(start, range.upperBound + 1) }
    }
    return ranges
  }

  /// The leftmost match from a place on, as long as it can be.
  private mutating func first(from start: Int) -> Range<Int>? {
    clear()
    var found: Range<Int>?
    for place in start...text.count {
      if found == nil { reach(0, from: place, at: place) }
      if let begin = begins[program.count - 1], begin <= found?.lowerBound ?? begin { found = begin..<place }
      advance(over: place, upTo: found?.lowerBound)
      if found != nil, reached.isEmpty { break }
    }
    return found
  }

  private mutating func clear() {
    for step in reached { begins[step] = nil }
    reached.removeAll(keepingCapacity: true)
  }

  /// Takes the scalar at a place.
  /// - Parameter latest: the greatest beginning of runs that go on; later ones are given up.
  private mutating func advance(over place: Int, upTo latest: Int? = nil) {
    let before = reached.map { ($0, begins[$0] ?? place) }
    clear()
    guard place < text.count else { return }
    for (step, begin) in before where latest.map({ begin <= $0 }) ?? true {
      if case .scalar(let set) = program[step], set.contains(text[place]) {
        reach(step + 1, from: begin, at: place + 1)
      }
    }
  }

  /// Notes a step as reached, and all that follow it without a scalar. Of two ways to a step the one that began first
  /// counts.
  private mutating func reach(_ first: Int, from begin: Int, at place: Int) {
    pending.append(first)
    while let step = pending.popLast() {
      if let earlier = begins[step], earlier <= begin { continue }
      if begins[step] == nil { reached.append(step) }
      begins[step] = begin
      switch program[step] {
      case .scalar, .end: break
      case .jump(let target): pending.append(target)
      case .save: pending.append(step + 1)
      case .fork(let one, let other): pending += [other, one]
      case .assertion(let assertion): if holds(assertion, at: place) { pending.append(step + 1) }
      }
    }
  }

  private func holds(_ assertion: Pattern.Assertion, at place: Int) -> Bool {
    assertion.holds(at: place, in: text, dialect)
  }
}

extension Pattern.Assertion {
  func holds(at place: Int, in text: [Unicode.Scalar], _ dialect: PatternDialect) -> Bool {
    func isWord(_ index: Int) -> Bool { text.indices.contains(index) && dialect.isWord(text[index]) }
    return switch self {
    case .start: place == 0
    case .end: place == text.count
    case .lineStart: place == 0 || text[place - 1] == "\n"
    case .lineEnd: place == text.count || text[place] == "\n"
    case .wordBoundary: isWord(place - 1) != isWord(place)
    case .noWordBoundary: isWord(place - 1) == isWord(place)
    }
  }
}
