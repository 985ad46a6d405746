// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import LinearPatterns
import Synchronization

/// Regular expressions in RE2 syntax. Matching takes time proportional to the lengths of text and pattern.
enum RegularExpressions {
  static let functions: [Function] = [
    Function("regex_contains", 2) { values, context throws(EvaluationError) in
      let (text, pattern) = try arguments("regex_contains", values, context)
      return .boolean(pattern.matchesSomewhere(text) { !context.work.goesOn() })
    },
    Function("regex_match", 2) { values, context throws(EvaluationError) in
      let (text, pattern) = try arguments("regex_match", values, context)
      return .boolean(pattern.matchesWhole(text) { !context.work.goesOn() })
    },
    Function("regex_find", 2) { values, context throws(EvaluationError) in
      let (text, pattern) = try arguments("regex_find", values, context)
      return try matches("regex_find", of: pattern, in: text, most: 1, context).first.map { .string($0) } ?? .null
    },
    Function("regex_find_all", 2) { values, context throws(EvaluationError) in
      let (text, pattern) = try arguments("regex_find_all", values, context)
      let most = PipelineLimits.elements
      let found = try matches("regex_find_all", of: pattern, in: text, most: most + 1, context)
      if found.count > most { throw Evaluation.tooLarge }
      return .array(found.map { .string($0) })
    },
  ]

  /// The maximum number of comparisons between a character and a pattern step, for one value.
  private static let work = 200_000_000

  private static func arguments(
    _ function: String, _ values: [Value], _ context: EvaluationContext
  ) throws(EvaluationError) -> (String, Pattern) {
    let (text, source) = (try values[0].text(of: function), try values[1].text(of: function))
    let pattern: Pattern
    do throws(PatternError) { pattern = try context.patterns.pattern(source) } catch {
      throw EvaluationError("\(function)(): invalid regular expression, \(error.text).")
    }
    guard text.utf8.count <= work / max(pattern.stepCount, 1) else { throw tooMuchWork(function) }
    return (text, pattern)
  }

  private static func matches(
    _ function: String, of pattern: Pattern, in text: String, most: Int, _ context: EvaluationContext
  ) throws(EvaluationError) -> [String] {
    var work = work
    do throws(Pattern.EditFailure) {
      return try pattern.matches(in: text, most: most, work: &work) { !context.work.goesOn() }
    } catch { throw tooMuchWork(function) }
  }

  private static func tooMuchWork(_ function: String) -> EvaluationError {
    EvaluationError("\(function)() would take too long. Use a shorter text or a simpler pattern.")
  }
}

/// Caches compiled patterns by their texts.
final class PatternCache: Sendable {
  private static let mostKept = 64

  private let known = Mutex<[String: Pattern]>([:])

  func pattern(_ text: String) throws(PatternError) -> Pattern {
    if let pattern = known.withLock({ $0[text] }) { return pattern }
    let pattern = try Pattern(re2: text)
    known.withLock { if $0.count < Self.mostKept { $0[text] = pattern } }
    return pattern
  }
}
