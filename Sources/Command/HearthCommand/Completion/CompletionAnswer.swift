// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import Foundation

/// The answer to other shells' completion scripts while a line is typed: `hearth __complete SHELL …`.
///
/// It never fails and never explains: a line that is being typed is no place for messages. The answer is a line per
/// candidate; or `:files` or `:directories`, which shells list better themselves.
enum CompletionAnswer {
  static let command = "__complete"

  static func isAsked(_ arguments: [String]) -> Bool { arguments.first == command }

  static func print(_ arguments: [String]) async {
    guard arguments.count > 1, let engine = CompletionEngine.ofShell else { return }
    let text = await answer(arguments[1], Array(arguments.dropFirst(2)), engine)
    // A shell that has closed the pipe needs no answer.
    try? OutputFile.print(data: text)
  }

  /// - Parameters:
  ///   - shell: bash, zsh or fish.
  ///   - arguments: from bash, the line up to the cursor and the word that bash will replace; from the others, the
  ///     words up to the cursor, the program's name first.
  static func answer(_ shell: String, _ arguments: [String], _ engine: CompletionEngine) async -> String {
    if shell == "bash" { return await bash(arguments, engine) }
    guard let word = arguments.last else { return "" }
    let result = await engine.complete(Array(arguments.dropFirst().dropLast()), word)
    return lines(result) { candidate in
      let note = ShownText(candidate.note.replacing("\t", with: " ").replacing("\n", with: " ")).text
      let isFinal = shell == "zsh" ? "\(candidate.isFinal ? "+" : "-")\t" : ""
      return "\(isFinal)\(candidate.value)\t\(note)"
    }
  }

  /// Completes for bash, which replaces only the text behind the last sign that splits words for it, such as a colon.
  private static func bash(_ arguments: [String], _ engine: CompletionEngine) async -> String {
    guard arguments.count == 2, let (all, last) = ShellText.end(of: arguments[0]) else { return "" }
    // Words before a pipe and the like belong to another command.
    let start = all.lastIndex { ["|", "||", "&", "&&", "!"].contains($0) }.map { $0 + 1 } ?? 0
    let words = all[start...].dropFirst()
    let replaced = arguments[1]
    let result = await engine.complete(Array(words), last.text)
    let raw = String(Array(arguments[0])[last.start...])
    let kept = raw.hasSuffix(replaced) ? raw.count - replaced.count : 0
    return lines(result) { candidate in
      let typed = ShellText.typed(candidate.value, in: last.opening, isComplete: candidate.isFinal)
      return String(typed.dropFirst(kept)) + (candidate.isFinal ? " " : "")
    }
  }

  private static func lines(
    _ result: CompletionEngine.Result, _ line: (CompletionEngine.Candidate) -> String
  ) -> String {
    if result.files == .directory { return ":directories\n" }
    if result.files != nil { return ":files\n" }
    // A candidate with a line break in it cannot be sent, and shells show the others unescaped.
    return result.candidates.filter { isShown($0.value) }.map { line($0) + "\n" }.joined()
  }

  private static func isShown(_ value: String) -> Bool {
    !value.contains(where: \.isNewline) && ShownText(json: value).text == value
  }
}
