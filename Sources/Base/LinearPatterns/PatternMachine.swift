// SPDX-License-Identifier: Apache-2.0

/// Finds matches and the parts that their groups took. Of several ways to match from one place, the one counts that
/// comes first when alternatives are tried from left to right (Pike's virtual machine).
struct PatternMachine {
  private struct Thread {
    var step: Int
    /// Bounds of the whole match and of the groups; -1 for none.
    var bounds: [Int]
  }

  private let program: [Pattern.Step]
  private let dialect: PatternDialect
  private let slots: Int
  let text: [Unicode.Scalar]
  /// The round in which each step was last reached.
  private var seen: [Int]
  private var round = 0
  /// The number of steps that may still be taken.
  private(set) var work: Int
  private let isOver: () -> Bool

  /// - Parameter isOver: whether no caller waits for a match any more; asked now and then, and then no work is left.
  init(_ pattern: Pattern, _ text: [Unicode.Scalar], work: Int, isOver: @escaping () -> Bool = { false }) {
    program = pattern.program
    dialect = pattern.dialect
    slots = 2 * (pattern.groups.count + 1)
    self.text = text
    self.work = work
    self.isOver = isOver
    seen = Array(repeating: -1, count: pattern.program.count)
  }

  /// The leftmost match from a place on.
  /// - Returns: the bounds of the whole match and of its groups, -1 for those that took no part; `nil` if there is no
  ///   match, or if no `work` is left.
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
          // The threads that follow are less preferred.
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

  /// Follows all steps that take no scalar, the preferred ones first.
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
  /// The reason why a text was not changed or split.
  package enum EditFailure: Error, Hashable, Sendable {
    /// The replacement names a group that the pattern does not have.
    case unknownGroup
    /// The edit would take more steps than were allowed.
    case tooMuchWork
  }

  /// The parts of a text between matches; empty ones at its end left out.
  /// - Parameter work: the number of steps that may be taken; the steps taken are subtracted.
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

  /// The text with every match replaced. In the replacement `$1` and `${name}` are the text that a group took, and a
  /// backslash makes the next character stand for itself.
  /// - Parameter work: the number of steps that may be taken; the steps taken are subtracted.
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

  /// All matches from left to right; behind an empty one the search goes on one character further.
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
        // More digits count as long as there is such a group.
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
