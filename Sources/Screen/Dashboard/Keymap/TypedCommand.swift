// SPDX-License-Identifier: Apache-2.0
import DashboardModel
package import FirestoreText

/// Palette commands that are typed by name, as on a command line: `offline 30s; wall`.
package enum TypedCommand {
  /// Splits a line into commands at semicolons outside of quotes.
  /// - Throws: for an unknown command name, with its column. Arguments are parsed when the command runs.
  package static func commands(in line: String) throws(TextError) -> [String] {
    var found: [String] = []
    for (start, text) in parts(of: line) {
      let typed = text.trimmed
      if typed.isEmpty { continue }
      let indent = text.unicodeScalars.prefix { $0 == " " }.count
      do throws(TextError) { try check(typed) } catch { throw error.moved(by: start + indent) }
      found.append(typed)
    }
    return found
  }

  private static func parts(of line: String) -> [(start: Int, text: String)] {
    var parts: [(start: Int, text: String)] = [(0, "")]
    var quote: Unicode.Scalar?
    for (index, scalar) in line.unicodeScalars.enumerated() {
      if scalar == quote { quote = nil } else if quote == nil, scalar == "\"" || scalar == "'" { quote = scalar }
      if scalar == ";", quote == nil {
        parts.append((index + 1, ""))
      } else {
        parts[parts.count - 1].text.unicodeScalars.append(scalar)
      }
    }
    return parts
  }

  /// The name of a command, and the rest of its text.
  static func split(_ text: String) -> (name: String, rest: String) {
    guard let blank = text.firstIndex(of: " ") else { return (text, "") }
    return (String(text[..<blank]), text[blank...].trimmed)
  }

  private static func check(_ text: String) throws(TextError) {
    if Palette.moment(named: text) != nil { return }
    let (name, rest) = split(text)
    let keymap = Keymap.standard
    let all = (keymap.commands + keymap.unbound).filter { command in
      if case .overlay = command.context { false } else { true }
    }
    let named = all.filter { $0.name == name }
    guard let command = named.first(where: { $0.argument != nil }) ?? named.first else {
      if Palette.path(text) != nil { return }
      throw TextError(column: 1, "no command is called \(name)\(Keymap.hint(name, all.map(\.name)))")
    }
    if command.argument == nil, !rest.isEmpty {
      throw TextError(column: name.unicodeScalars.count + 2, "\(name) takes no argument")
    }
    if let argument = command.argument, !argument.isOptional, rest.isEmpty {
      throw TextError(column: name.unicodeScalars.count + 1, "\(name) needs more: \(argument.hint)")
    }
  }
}

extension Palette {
  /// The item for a text without a command name: a row, a time or a recording. Examples: `42`, `50%`, `at 12:04:16`,
  /// `record FILE`.
  static func moment(named text: String) -> Item? { jump(text) ?? moment(text) ?? recording(text) }
}

extension DashboardState {
  /// Runs a command by its name, or shows why it is unavailable.
  mutating func run(typed text: String) -> [Effect] {
    let text = text.trimmed
    if text.isEmpty { return [] }
    if let item = Palette.moment(named: text) { return run(item.target) }
    let (name, rest) = TypedCommand.split(text)
    let keymap = configuration.keymap
    guard
      let command = keymap.unbound.first(where: { $0.name == name })
        ?? keymap.command(named: name, in: commandContexts)
    else {
      if let item = Palette.path(text) { return run(item.target) }
      toast(.warning, "no command is called \(name)")
      return []
    }
    return rest.isEmpty ? perform(command) : perform(command, rest)
  }
}

/// The palette while the argument of a command is typed, and the history of typed commands.
extension DashboardState {
  private static let offeredCompletions = 200

  /// The rows of the palette.
  package func items(of palette: Palette, _ list: ListOverlay) -> [Palette.Item] {
    let text = list.field?.text ?? ""
    return argumentItems(text, palette) ?? list.items(of: palette)
  }

  /// The items for a text that starts with a command name: the text itself if it is valid, then its completions. If the
  /// text is still invalid, the last item shows the error.
  private func argumentItems(_ text: String, _ palette: Palette) -> [Palette.Item]? {
    guard let blank = text.firstIndex(of: " "), !palette.asksForPath,
      let command = palette.argumentCommand(named: String(text[..<blank])), let argument = command.argument
    else { return nil }
    let typed = String(text[text.index(after: blank)...].drop { $0 == " " })
    let head = text.unicodeScalars.count - typed.unicodeScalars.count
    var items: [Palette.Item] = []
    var problem: TextError?
    let argumentText = typed.trimmed
    if !argumentText.isEmpty {
      // The text can also match the title of another command, for example `go off`.
      items = palette.all.filter { item in
        if case .command(let other) = item.target, other.argument != nil { return false }
        return item.title.lowercased().hasPrefix(text.lowercased())
      }
      do throws(TextError) {
        let meaning = try argument.read(argumentText, self)
        items.append(item(meaning.account, command, argumentText))
      } catch { problem = error.moved(by: head) }
    } else if argument.isOptional {
      items.append(Palette.Item(name: command.name, title: command.help, target: .command(command)))
    }
    let lowered = typed.lowercased()
    let all = argument.completions(typed, self).filter { $0 != argumentText }
    let begin = all.filter { $0.lowercased().hasPrefix(lowered) }
    let contain = all.filter { !$0.lowercased().hasPrefix(lowered) && $0.lowercased().contains(lowered) }
    items += (begin + contain).prefix(Self.offeredCompletions).map { item(argument.effect($0, self), command, $0) }
    if let problem {
      items.append(Palette.Item(name: "", title: problem.description, target: .problem(problem)))
    } else if argumentText.isEmpty {
      let hint = TextError(column: head + 1, argument.hint)
      items.append(Palette.Item(name: "", title: argument.hint, target: .problem(hint)))
    }
    return items
  }

  private func item(_ title: String, _ command: Command, _ text: String) -> Palette.Item {
    Palette.Item(name: "\(command.name) \(text)", title: title, target: .invocation(command, text))
  }

  /// Runs a command with its argument, or shows why it is unavailable.
  mutating func perform(_ command: Command, _ text: String) -> [Effect] {
    guard let argument = command.argument else { return perform(command) }
    if let reason = command.reason(self) {
      toast(.info, reason)
      return []
    }
    do throws(TextError) { return try argument.read(text, self).run(&self) } catch {
      toast(.warning, "\(command.name): \(error)")
      return []
    }
  }

  // MARK: Completion

  /// The typed text completed from the selected row; `nil` if that would not change the text.
  package func completion(of palette: Palette, _ list: ListOverlay) -> String? {
    let items = items(of: palette, list)
    guard items.indices.contains(list.cursor.index) else { return nil }
    let typed = list.field?.text ?? ""
    if let text = items[list.cursor.index].completion, text != typed { return text }
    // The typed text equals the selected row, so the completion comes from a later row with this text as prefix.
    return items[list.cursor.index...].lazy.compactMap(\.completion).first { $0 != typed && $0.hasPrefix(typed) }
  }

  /// Handles `tab`: types the completion of the selected row.
  mutating func completePalette() {
    guard let list = overlay?.list, case .palette(let palette) = list.content,
      let text = completion(of: palette, list)
    else { return }
    overlay?.list?.field = TextField(text)
    overlay?.list?.cursor = Cursor()
  }

  // MARK: History

  /// Recalls earlier commands. Pressing `up` on the first row recalls the previous command, and `down` the next one.
  /// - Returns: whether the key was used to step through the history.
  mutating func recall(by step: Int) -> Bool {
    guard let list = overlay?.list, case .palette(var palette) = list.content, !palette.asksForPath else {
      return false
    }
    let isOlder = step == -1 && (palette.recalled != nil || list.cursor.index == 0)
    guard isOlder || step == 1 && palette.recalled != nil else { return false }
    let place = (palette.recalled ?? commandHistory.count) + step
    guard place >= 0, !commandHistory.isEmpty else { return true }
    if palette.recalled == nil { palette.draft = list.field?.text ?? "" }
    palette.recalled = place < commandHistory.count ? place : nil
    let text = palette.recalled.map { commandHistory[$0] } ?? palette.draft
    overlay?.list?.content = .palette(palette)
    overlay?.list?.field = TextField(text)
    overlay?.list?.cursor = Cursor()
    return true
  }

  /// Adds a command that was run to the history, as the newest entry and without duplicates.
  mutating func remember(_ item: Palette.Item) -> [Effect] {
    guard let text = item.completion?.trimmed, !text.isEmpty else { return [] }
    typing.remember(text)
    return [.terminal(.rememberCommands(commandHistory))]
  }
}

extension Palette {
  fileprivate func argumentCommand(named name: String) -> Command? {
    for case .command(let command) in all.lazy.map(\.target) where command.argument != nil && command.name == name {
      return command
    }
    return nil
  }
}

extension Palette.Item {
  /// The text that you would type to run the row's command.
  var completion: String? {
    switch target {
    case .invocation(let command, let text): "\(command.name) \(text)"
    case .command(let command): command.argument.map { _ in command.name + " " } ?? command.name
    case .problem: nil
    // Positions and one-time actions are not stored.
    case .row, .percent, .newDocument, .newDocumentIn, .timeline, .recording: nil
    case .theme, .collection, .document, .stopListener, .editListener: name
    }
  }
}
