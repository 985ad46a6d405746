// SPDX-License-Identifier: Apache-2.0

extension Pattern {
  /// Whether it matches somewhere in a text, of any length.
  /// - Parameter isOver: whether nobody waits for the answer any more, which is no then.
  package func matchesSomewhere(_ text: String, unless isOver: () -> Bool = { false }) -> Bool {
    var run = PatternRun(self, Array(text.unicodeScalars))
    return run.matches(unless: isOver)
  }

  /// What it matches, from left to right; behind an empty match the search goes on one character further.
  /// - Parameters:
  ///   - most: how many matches are looked for.
  ///   - work: steps that may be gone; what was gone is taken off.
  ///   - isOver: whether nobody waits for them any more: then that was all the work.
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
