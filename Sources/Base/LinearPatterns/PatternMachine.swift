// SPDX-License-Identifier: Apache-2.0

/// Finds matches and the parts that their groups captured (Pike's virtual machine). If several matches start at one
/// position, returns the match that a backtracking search, which tries alternatives from left to right, would find
/// first.
struct PatternMachine {
  private struct Thread {
    var step: Int
    /// The bounds of the whole match and of its groups; -1 for groups without a match.
    var bounds: [Int]
  }

  private let program: [Pattern.Step]
  private let dialect: PatternDialect
  private let slots: Int
  let text: [Unicode.Scalar]
  /// The numbers of the last rounds in which the steps were reached, one for each step.
  private var seen: [Int]
  private var round = 0
  /// The number of steps that are still allowed.
  private(set) var work: Int
  private let isOver: () -> Bool

  /// - Parameter isOver: returns whether the caller no longer needs a match. It is called from time to time. If it
  ///   returns true, `work` becomes zero.
  init(_ pattern: Pattern, _ text: [Unicode.Scalar], work: Int, isOver: @escaping () -> Bool = { false }) {
    program = pattern.program
    dialect = pattern.dialect
    slots = 2 * (pattern.groups.count + 1)
    self.text = text
    self.work = work
    self.isOver = isOver
    seen = Array(repeating: -1, count: pattern.program.count)
  }

  /// The leftmost match that starts at or after a position.
  /// - Returns: the bounds of the whole match and of its groups; -1 for groups without a match. `nil` if there is no
  ///   match, or if all `work` is used.
  mutating func match(from start: Int) -> [Int]? {
    var threads: [Thread] = []
    var found: [Int]?
    for place in start...text.count {
      round += 1
      var next: [Thread] = []
      for thread in threads { add(thread, at: place, to: &next) }
      if found == nil {
        var bounds = Array(repeating: -1, count: slots)
        bounds[0] = place
        add(Thread(step: 0, bounds: bounds), at: place, to: &next)
      }
      work -= next.count + 1
      if place % PatternRun.stride == 0, isOver() { work = -1 }
      if work < 0 { return nil }
      threads = []
      for thread in next {
        if case .end = program[thread.step] {
          found = thread.bounds
          found?[1] = place
          // The remaining threads have lower priority.
          break
        }
        if place < text.count, case .scalar(let set) = program[thread.step], set.contains(text[place]) {
          threads.append(Thread(step: thread.step + 1, bounds: thread.bounds))
        }
      }
      if threads.isEmpty, found != nil { break }
    }
    return found
  }

  /// Adds the thread at all steps that it reaches without consuming a scalar. Steps with higher priority come first.
  private mutating func add(_ thread: Thread, at place: Int, to list: inout [Thread]) {
    var pending = [thread]
    while let thread = pending.popLast() {
      if seen[thread.step] == round { continue }
      seen[thread.step] = round
      work -= 1
      switch program[thread.step] {
      case .scalar, .end: list.append(thread)
      case .jump(let target): pending.append(Thread(step: target, bounds: thread.bounds))
      case .fork(let one, let other):
        pending.append(Thread(step: other, bounds: thread.bounds))
        pending.append(Thread(step: one, bounds: thread.bounds))
      case .save(let slot):
        var bounds = thread.bounds
        bounds[slot] = place
        pending.append(Thread(step: thread.step + 1, bounds: bounds))
      case .assertion(let assertion):
        if assertion.holds(at: place, in: text, dialect) {
          pending.append(Thread(step: thread.step + 1, bounds: thread.bounds))
        }
      }
    }
  }
}

extension Pattern {
  /// The reason why replacing or splitting a text failed.
  package enum EditFailure: Error, Hashable, Sendable {
    /// The replacement refers to a group that the pattern does not have.
    case unknownGroup
    /// The edit would need more steps than allowed.
    case tooMuchWork
  }

  /// The parts of a text between matches. Empty parts at the end are omitted.
  /// - Parameter work: the number of allowed steps. The steps that were needed are subtracted.
  package func split(_ text: String, work: inout Int) throws(EditFailure) -> [String] {
    var machine = PatternMachine(self, Array(text.unicodeScalars), work: work)
    var parts: [String] = []
    var end = 0
    for bounds in try matches(&machine, &work) {
      parts.append(Self.string(machine.text[end..<bounds[0]]))
      end = bounds[1]
    }
    if parts.isEmpty { return [text] }
    parts.append(Self.string(machine.text[end...]))
    while parts.last == "" { parts.removeLast() }
    return parts
  }

  /// Replaces every match in a text. In the replacement, `$1` and `${name}` insert the text of a group, and a backslash
  /// escapes the next character.
  /// - Parameter work: the number of allowed steps. The steps that were needed are subtracted.
  package func replacing(in text: String, with replacement: String, work: inout Int) throws(EditFailure) -> String {
    let template = try template(replacement)
    var machine = PatternMachine(self, Array(text.unicodeScalars), work: work)
    var result = String.UnicodeScalarView()
    var end = 0
    for bounds in try matches(&machine, &work) {
      result.append(contentsOf: machine.text[end..<bounds[0]])
      for part in template {
        switch part {
        case .text(let scalars): result.append(contentsOf: scalars)
        case .group(let number):
          let (first, last) = (bounds[2 * number], bounds[2 * number + 1])
          if first >= 0, last >= first {
            result.append(contentsOf: machine.text[first..<last])
            work -= last - first
          }
        }
        if work < 0 { throw .tooMuchWork }
      }
      work -= template.count
      end = bounds[1]
    }
    result.append(contentsOf: machine.text[end...])
    return String(result)
  }

  private static func string(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
    String(String.UnicodeScalarView(scalars))
  }

  /// All matches from left to right. After an empty match, the search continues one character later.
  private func matches(_ machine: inout PatternMachine, _ work: inout Int) throws(EditFailure) -> [[Int]] {
    var matches: [[Int]] = []
    var place = 0
    while place <= machine.text.count, let bounds = machine.match(from: place) {
      matches.append(bounds)
      place = bounds[1] == bounds[0] ? bounds[1] + 1 : bounds[1]
    }
    work = machine.work
    if work < 0 { throw .tooMuchWork }
    return matches
  }

  private enum TemplatePart {
    case text([Unicode.Scalar])
    case group(Int)
  }

  private func template(_ text: String) throws(EditFailure) -> [TemplatePart] {
    let scalars = Array(text.unicodeScalars)
    var parts: [TemplatePart] = []
    var plain: [Unicode.Scalar] = []
    var place = 0
    func digit(_ index: Int) -> Int? {
      guard index < scalars.count, (0x30...0x39).contains(scalars[index].value) else { return nil }
      return Int(scalars[index].value - 0x30)
    }
    while place < scalars.count {
      if scalars[place] == "\\", place + 1 < scalars.count {
        plain.append(scalars[place + 1])
        place += 2
        continue
      }
      guard scalars[place] == "$" else {
        plain.append(scalars[place])
        place += 1
        continue
      }
      var group: Int?
      var end = place + 1
      if let first = digit(end) {
        var number = first
        end += 1
        // Further digits belong to the number as long as a group with that number exists.
        while let next = digit(end), number * 10 + next <= groups.count {
          number = number * 10 + next
          end += 1
        }
        group = number
      } else if end < scalars.count, scalars[end] == "{", let close = scalars[end...].firstIndex(of: "}") {
        let name = Self.string(scalars[(end + 1)..<close])
        guard let index = groups.firstIndex(of: name) else { throw .unknownGroup }
        group = index + 1
        end = close + 1
      }
      guard let group else {
        plain.append("$")
        place += 1
        continue
      }
      guard group <= groups.count else { throw .unknownGroup }
      parts.append(.text(plain))
      parts.append(.group(group))
      plain = []
      place = end
    }
    parts.append(.text(plain))
    return parts
  }
}

/// One pass of a pattern over a text. For each step that was reached, stores the start position of the run that reached
/// it.
struct PatternRun {
  /// The maximum number of characters that are searched. No row on the screen shows more.
  static let longestText = 4000
  /// The maximum number of matches in one row. No row on the screen has space for more.
  private static let mostRanges = 64
  /// The number of characters after which `isOver` is called again.
  static let stride = 64

  private let program: [Pattern.Step]
  private let dialect: PatternDialect
  private let text: [Unicode.Scalar]
  /// The start positions of the runs that have reached the steps, one for each step; `nil` if the step was not reached.
  private var begins: [Int?]
  private var reached: [Int] = []
  private var pending: [Int] = []

  init(_ pattern: Pattern, _ text: [Unicode.Scalar]) {
    program = pattern.program
    dialect = pattern.dialect
    self.text = text
    begins = Array(repeating: nil, count: program.count)
  }

  /// - Parameter isOver: returns whether the caller no longer needs the result. It is called from time to time. If it
  ///   returns true, the result is false.
  mutating func matches(unless isOver: () -> Bool = { false }) -> Bool {
    for place in 0...text.count {
      if place % Self.stride == 0, isOver() { return false }
      reach(0, from: place, at: place)
      if begins[program.count - 1] != nil { return true }
      advance(over: place)
    }
    return false
  }

  /// Whether the whole text is one match.
  /// - Parameter isOver: returns whether the caller no longer needs the result. It is called from time to time. If it
  ///   returns true, the result is false.
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

  /// The leftmost match that starts at or after a position. The match is as long as possible.
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

  /// Consumes the scalar at a position.
  /// - Parameter latest: the latest start position of the runs to continue. Runs that started later are dropped.
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

  /// Marks a step as reached, and also all following steps that can be reached without consuming a scalar. If two runs
  /// reach a step, only the run that started first counts.
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
