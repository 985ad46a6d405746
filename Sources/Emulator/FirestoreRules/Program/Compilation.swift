// SPDX-License-Identifier: Apache-2.0
import LinearPatterns

/// Makes a program of files of rules, and notes all errors and warnings about them.
struct Compilation {
  private(set) var issues: [RulesIssue] = []

  /// - Returns: `nil` if an issue is an error.
  mutating func compile(_ files: [RulesFile]) -> Program? {
    let size = files.reduce(0) { $0 + $1.content.utf8.count }
    guard let first = files.first, size <= RulesLimits.sourceBytes else {
      let text =
        files.isEmpty
        ? "There are no rules." : "The rules have \(size) bytes; at most \(RulesLimits.sourceBytes) are allowed."
      issues.append(Self.issue(files.first?.name ?? "", text))
      return nil
    }
    var program = Program(sources: files.enumerated().map { SourceText($1, file: $0) })
    for source in program.sources {
      var parser = RulesParser(source, into: program)
      parser.parse()
      program = parser.program
      issues += parser.issues
    }
    if issues.contains(where: \.isError) { return nil }
    if program.version == 1 {
      issues.append(
        Self.issue(
          first.name, "Ruleset uses old version (version [1]). Please update to the latest version (version [2]).",
          isError: false))
    }
    var resolution = NameResolution(program)
    program = resolution.resolve()
    issues += resolution.issues
    issues += NameResolution.review(program)
    readPatterns(&program)
    return issues.contains(where: \.isError) ? nil : program
  }

  private static func issue(_ file: String, _ message: String, isError: Bool = true) -> RulesIssue {
    RulesIssue(
      fileName: file, line: 0, column: 0, currentOffset: 0, endOffset: 0, message: message, isError: isError)
  }

  /// Reads the regular expressions that are literals.
  private mutating func readPatterns(_ program: inout Program) {
    for expression in program.expressions {
      guard case .method(_, let method, let arguments) = expression.kind,
        [.matches, .replace, .split].contains(method), let id = arguments.first,
        case .constant(.string(let source)) = program.expressions[id].kind
      else { continue }
      do throws(PatternError) { program.patterns[id] = try Pattern(re2: source) } catch {
        issues.append(
          program.sources[program.files[id]].issue(
            program.expressions[id].range, "Invalid regular expression pattern. Pattern: \(source). \(error.text)"))
      }
    }
  }
}
