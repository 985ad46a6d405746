// SPDX-License-Identifier: Apache-2.0

extension Pattern {
  /// Whether the pattern matches somewhere in a text, of any length.
  /// - Parameter isOver: whether no caller waits for the answer any more; the answer is no then.
  package func matchesSomewhere(_ text: String, unless isOver: () -> Bool = { false }) -> Bool {
    var run = PatternRun(self, Array(text.unicodeScalars))
    return run.matches(unless: isOver)
  }

  /// The matched parts of a text, from left to right; behind an empty match the search goes on one character further.
  /// - Parameters:
  ///   - most: the most matches that are looked for.
  ///   - work: the number of steps that may be taken; the steps taken are subtracted.
  ///   - isOver: whether no caller waits for the matches any more; then no work is left.
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
