// SPDX-License-Identifier: Apache-2.0
import ClientPort
import CommandOptions
import CommandOutput
import DashboardHost
import Foundation
import Scenarios
import TerminalTheme

/// Finds completions for an unfinished word. Used by `hearth shell` and by the completion scripts of other shells.
struct CompletionEngine: Sendable {
  struct Candidate: Hashable, Sendable {
    var value: String
    /// The part of the value that differs from other candidates.
    var label: String
    var note = ""
    /// Whether the word is complete. If so, the next word can follow.
    var isFinal = true

    init(_ value: String, label: String? = nil, note: String = "", isFinal: Bool = true) {
      (self.value, self.label, self.note, self.isFinal) = (value, label ?? value, note, isFinal)
    }
  }

  struct Result: Hashable, Sendable {
    var candidates: [Candidate] = []
    /// Whether there are more candidates than those listed.
    var isCut = false
    /// The kind of files that are also candidates; `nil` for none.
    var files: ValueKind?
  }

  let grammar: CommandGrammar
  /// Opens the database that the options name; `nil` if there is none or it has no data.
  let place: @Sendable ([String]) -> CompletionPlace?
  var connections: @Sendable () -> [NamedConnection] = { ConnectionsFile.read(.ofProcess).connections }

  /// The time limit for requests to the database.
  var patience = Duration.seconds(1)

  /// - Parameters:
  ///   - words: the preceding words, without the program's name.
  ///   - word: the typed part of the word.
  func complete(_ words: [String], _ word: String) async -> Result {
    let shape = CommandLineShape(words, grammar)
    if let open = shape.open {
      return await complete(word, ValueKind(open, of: shape.command?.commandName ?? ""), shape)
    }
    if word.hasPrefix("-"), !shape.isAfterTerminator {
      if let equals = word.firstIndex(of: "=") {
        let name = String(word[..<equals])
        guard let option = options(of: shape).first(where: { $0.kind == .option && $0.isCalled(name) }) else {
          return Result()
        }
        let kind = ValueKind(option, of: shape.command?.commandName ?? "")
        return await complete(String(word[word.index(after: equals)...]), kind, shape).prefixed(with: "\(name)=")
      }
      return optionNames(word, shape)
    }
    if !shape.commands.isEmpty, shape.positionals.isEmpty { return commandNames(word, shape) }
    let positionals = shape.command?.positionals ?? []
    let index = min(shape.positionals.count, positionals.count - 1)
    guard index >= 0, shape.positionals.count < positionals.count || positionals[index].isRepeating else {
      return Result()
    }
    return await complete(word, ValueKind(positionals[index], of: shape.command?.commandName ?? ""), shape)
  }

  // MARK: Names

  private func options(of shape: CommandLineShape) -> [CommandGrammar.Argument] {
    (shape.command ?? grammar.root.subcommand("dashboard"))?.options ?? []
  }

  private func optionNames(_ word: String, _ shape: CommandLineShape) -> Result {
    let candidates = options(of: shape).compactMap { option -> Candidate? in
      guard let name = option.preferredName?.typed, name.hasPrefix(word) else { return nil }
      if !option.isRepeating, shape.has(name) { return nil }
      return Candidate(name, note: Self.firstSentence(option.abstract))
    }
    return Result(candidates: candidates)
  }

  private func commandNames(_ word: String, _ shape: CommandLineShape) -> Result {
    let shown = shape.commands.filter(\.shouldDisplay)
    let found = shown.filter { $0.commandName.hasPrefix(word) }
    let taken = Set(found.map(\.commandName))
    let pages = shape.command?.commandName == "help" ? ManualPage.all : []
    let topics = pages.filter { $0.topic.hasPrefix(word) && !taken.contains($0.topic) }
    if !found.isEmpty || !topics.isEmpty {
      return Result(
        candidates: found.map { Candidate($0.commandName, note: $0.abstract ?? "") }
          + topics.map { Candidate($0.topic, note: $0.title) })
    }
    let synonyms = ForeignLine.synonyms.filter { name, meant in
      !word.isEmpty && name.hasPrefix(word.lowercased()) && shown.contains { $0.commandName == meant }
    }
    let meant = Set(synonyms.values).sorted()
    return Result(candidates: meant.map { Candidate($0, note: "Hearth's name for '\(word)'") })
  }

  static func firstSentence(_ text: String?) -> String {
    guard let text else { return "" }
    let end = text.firstRange(of: ". ")?.lowerBound ?? text.endIndex
    return String(text[..<end].prefix { !$0.isNewline })
  }

  // MARK: Values

  private func complete(_ word: String, _ kind: ValueKind, _ shape: CommandLineShape) async -> Result {
    func matching(_ candidates: [Candidate]) -> Result {
      Result(candidates: candidates.filter { $0.value.hasPrefix(word) })
    }
    switch kind {
    case .values(let values): return matching(values.map { Candidate($0) })
    case .connection:
      return matching(connections().map { Candidate($0.name, note: $0.backends.joined(separator: ", ")) })
    case .theme:
      let catalog = ThemeCatalog(directories: Paths.ofProcess.themeFolders)
      return matching(catalog.slugs.map { Candidate($0, note: catalog.name(of: $0)) })
    case .program: return matching(Self.programs())
    case .file, .directory: return Result(files: kind)
    case .scenario:
      let shipped = matching(ShippedScenario.all.map { Candidate($0.name, note: $0.summary) })
      return shipped.candidates.isEmpty ? Result(files: .file) : shipped
    case .unknown: return Result()
    case .path, .field, .assignment, .fields, .order, .condition:
      guard let place = place(shape.storage) else { return Result() }
      let lookup = CompletionLookup(place: place, shape: shape)
      return await withinPatience { await lookup.complete(word, kind) }
    }
  }

  private static func programs() -> [Candidate] {
    // A folder that other users could have filled is not read.
    guard let programs = try? InspectablePrograms(in: InspectionFolder(ProcessInfo.processInfo.environment)) else {
      return []
    }
    return programs.entries.flatMap { entry -> [Candidate] in
      let number = Candidate("\(entry.address)", note: entry.name ?? "")
      return entry.name.map { [Candidate($0, note: "\(entry.address)"), number] } ?? [number]
    }
  }

  /// The result of a function; empty if it needs more time than `patience`.
  private func withinPatience(_ work: @escaping @Sendable () async -> Result) async -> Result {
    let patience = patience
    return await withTaskGroup(of: Result?.self) { group in
      group.addTask { await work() }
      group.addTask {
        // The sleep is cancelled when the result arrives.
        try? await ContinuousClock().sleep(for: patience)
        return nil
      }
      defer { group.cancelAll() }
      let first = await group.next()
      return (first ?? nil) ?? Result()
    }
  }
}

extension CompletionEngine.Result {
  fileprivate func prefixed(with text: String) -> Self {
    var result = self
    for index in result.candidates.indices { result.candidates[index].value = text + result.candidates[index].value }
    return result
  }
}

/// The kind of value that is completed.
enum ValueKind: Hashable, Sendable {
  /// The path of a collection or a document.
  case path
  case field
  /// A word of the form `field=value`.
  case assignment
  /// Several fields, separated by commas.
  case fields
  case order
  case condition
  case connection
  case theme
  /// A program whose client can be inspected.
  case program
  /// A scenario file, or the name of a shipped scenario.
  case scenario
  case values([String])
  case file
  case directory
  case unknown

  /// - Parameter command: the name of the command that has the argument.
  init(_ argument: CommandGrammar.Argument, of command: String) {
    if let values = argument.allValues, !values.isEmpty {
      self = .values(values)
      return
    }
    let name = argument.preferredName?.name
    switch (argument.valueName ?? "", name) {
    case (_, "connection"), (_, "to-connection"): self = .connection
    case ("name", nil) where command == "use": self = .connection
    case (_, "theme"): self = .theme
    case (_, "frame"): self = .values(["80x24", "120x36", "160x48"])
    case ("path", _), ("collection", _), ("place", _), ("after", _): self = .path
    case ("condition", _): self = .condition
    case ("field[:desc]", _): self = .order
    case ("field,...", _): self = .fields
    case ("field", _): self = .field
    case ("fields", nil), ("field=value", _): self = .assignment
    case ("file", _), ("in", _), ("out", _), ("files", _): self = .file
    case ("dir", _), ("directory", _): self = .directory
    case ("program", _): self = .program
    case ("scenario", nil): self = .scenario
    default: self = .unknown
    }
  }
}
