// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import Foundation
import TerminalCanvas

/// The completion that TAB performs on a line of `hearth shell`.
struct ShellCompletion: Hashable, Sendable {
  /// The index of the first character of the word.
  let start: Int
  /// The text that replaces the word; `nil` if the candidates have no further common character.
  private(set) var typed: String?
  private let choices: CompletionEngine.Result

  /// - Parameter text: the text before the cursor.
  /// - Returns: `nil` without a completion.
  init?(of text: String, engine: CompletionEngine? = .ofShell) async {
    guard let engine else { return nil }
    let statement = text.lastIndex(where: \.isNewline).map { text[text.index(after: $0)...] } ?? text[...]
    if statement.drop(while: \.isWhitespace).hasPrefix("\\") {
      let offset = text.count - statement.count
      await self.init(backslash: statement, offset: offset, engine)
      return
    }
    guard let (words, last) = ShellText.end(of: text) else { return nil }
    let result = await engine.complete(words.first == "hearth" ? Array(words.dropFirst()) : words, last.text)
    self.init(result, last)
  }

  private init(_ result: CompletionEngine.Result, _ word: ShellText.LastWord) {
    var result = result
    if let kind = result.files { result.candidates += FileNames.candidates(word.text, isDirectory: kind == .directory) }
    start = word.start
    choices = result
    guard let first = result.candidates.first else { return }
    if result.candidates.count == 1, !result.isCut {
      typed = ShellText.typed(first.value, in: word.opening, isComplete: first.isFinal) + (first.isFinal ? " " : "")
      return
    }
    let common = result.candidates.dropFirst().reduce(first.value) { $0.commonPrefix(with: $1.value) }
    if common.hasPrefix(word.text), common.count > word.text.count {
      typed = ShellText.typed(common, in: word.opening, isComplete: false)
    }
  }

  private init(backslash text: Substring, offset: Int, _ engine: CompletionEngine) async {
    let lead = text.prefix(while: \.isWhitespace).count + 1
    let rest = text.dropFirst(lead)
    let name = rest.prefix { !$0.isWhitespace }
    guard name.count < rest.count else {
      let all = BackslashCommand.allCases.map {
        CompletionEngine.Candidate($0.rawValue, label: $0.usage.form, note: $0.usage.text)
      }
      let found = all.filter { $0.value.hasPrefix(name) }
      self.init(
        CompletionEngine.Result(candidates: found), ShellText.LastWord(text: String(name), start: offset + lead))
      return
    }
    let arguments = rest.dropFirst(name.count)
    let (words, last) = ShellText.end(of: String(arguments)) ?? ([], ShellText.LastWord(start: arguments.count))
    var word = last
    word.start += offset + lead + name.count
    let result: CompletionEngine.Result
    switch BackslashCommand(name: String(name)) {
    case .connect: result = await engine.complete(["get", "--connection"], last.text)
    case .commandHelp: result = await engine.complete(["help"] + words, last.text)
    case .describe: result = await engine.complete(["ls"] + words, last.text)
    case .copy where words.isEmpty: result = await engine.complete(["get"], last.text)
    case .copy where words.count == 1:
      let ways = ["to", "from"].filter { $0.hasPrefix(last.text) }
      result = CompletionEngine.Result(candidates: ways.map { CompletionEngine.Candidate($0) })
    case .file, .output, .copy: result = CompletionEngine.Result(files: .file)
    default: result = CompletionEngine.Result()
    }
    self.init(result, word)
  }

  /// The candidates as rows below the line. Empty if the word was completed.
  func rows(columns: Int, height: Int) -> [String] {
    if typed != nil || choices.candidates.isEmpty { return [] }
    let room = max(3, height - 3)
    let shown = choices.candidates.prefix(choices.candidates.count > room ? room - 1 : room)
    let width = min(shown.map { SafeText.columns(of: $0.label) }.max() ?? 0, max(10, columns / 2))
    var rows = shown.map { candidate in
      let label = SafeText.truncated(candidate.label, to: width)
      if candidate.note.isEmpty { return label }
      let gap = String(repeating: " ", count: width - SafeText.columns(of: label) + 2)
      return SafeText.truncated(label + gap + candidate.note, to: columns)
    }
    if choices.isCut {
      rows.append("… and more")
    } else if shown.count < choices.candidates.count {
      rows.append("… and \(choices.candidates.count - shown.count) more")
    }
    return rows
  }
}

extension CompletionEngine {
  /// The completion engine that uses the connections of the current shell.
  static let ofShell = CommandGrammar.ofProcess.map {
    CompletionEngine(grammar: $0, place: { CompletionPlace.open($0) })
  }
}

/// Lists names of files and folders for completion.
enum FileNames {
  static func candidates(_ word: String, isDirectory: Bool) -> [CompletionEngine.Candidate] {
    let (folder, prefix) = word.contains("/") ? OutputPlace.split(word) : ("", word)
    let base = word.contains("/") ? (folder == "/" ? "/" : folder + "/") : ""
    let path = base.isEmpty ? "." : UserPath.absolute(base)
    // Unreadable folders have no candidates.
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    let found = names.filter { $0.hasPrefix(prefix) && (prefix.hasPrefix(".") || !$0.hasPrefix(".")) }.sorted()
    return found.prefix(CompletionLookup.limit).compactMap { name in
      var isFolder: ObjCBool = false
      _ = FileManager.default.fileExists(atPath: path + "/" + name, isDirectory: &isFolder)
      if isFolder.boolValue { return CompletionEngine.Candidate("\(base)\(name)/", label: "\(name)/", isFinal: false) }
      return isDirectory ? nil : CompletionEngine.Candidate(base + name, label: name)
    }
  }
}
