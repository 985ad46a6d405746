// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreText

/// The palette while a command's argument is typed, and the history of typed commands.
extension DashboardState {
  private static let offeredCompletions = 200

  /// The rows of the palette.
  package func items(of palette: Palette, _ list: ListOverlay) -> [Palette.Item] {
    let text = list.field?.text ?? ""
    return argumentItems(text, palette) ?? list.items(of: palette)
  }

  /// The meanings of a text that begins with the name of a command: the text itself first, if it has a meaning, then
  /// its completions, and last the reason why it has no meaning yet.
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
      // The text may also be the title of another command, as `go off` is.
      items = palette.all.filter { item in
        if case .command(let other) = item.target, other.argument != nil { return false }
        return item.title.lowercased().hasPrefix(text.lowercased())
      }
      do throws(TextError) {
        let meaning = try argument.read(argumentText, self)
        items.append(item(meaning.account, command, argumentText))
      } catch { problem = error.moved(by: head) }
    } else if argument.isOptional {
      items.append(Palette.Item(title: command.help, group: "command", detail: "", target: .command(command)))
    }
    let lowered = typed.lowercased()
    let all = argument.completions(typed, self).filter { $0 != argumentText }
    let begin = all.filter { $0.lowercased().hasPrefix(lowered) }
    let contain = all.filter { !$0.lowercased().hasPrefix(lowered) && $0.lowercased().contains(lowered) }
    items += (begin + contain).prefix(Self.offeredCompletions).map { item("\(command.name) \($0)", command, $0) }
    if let problem {
      items.append(Palette.Item(title: problem.description, group: "", detail: "", target: .problem(problem)))
    } else if argumentText.isEmpty {
      let hint = TextError(column: head + 1, argument.hint)
      items.append(Palette.Item(title: argument.hint, group: "", detail: "", target: .problem(hint)))
    }
    return items
  }

  private func item(_ title: String, _ command: Command, _ text: String) -> Palette.Item {
    Palette.Item(title: title, group: command.name, detail: "", target: .invocation(command, text))
  }

  /// Runs a command with its argument; for an impossible command it shows the reason.
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

  /// The completion of the typed text by the selected row; `nil` if it changes nothing.
  package func completion(of palette: Palette, _ list: ListOverlay) -> String? {
    let items = items(of: palette, list)
    guard items.indices.contains(list.cursor.index) else { return nil }
    let typed = list.field?.text ?? ""
    if let text = items[list.cursor.index].completion, text != typed { return text }
    // The row equals the typed text: a later row that begins with it completes it.
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

  /// Recalls earlier commands: `up` from the first row goes back in the history, `down` forth again.
  /// - Returns: whether the step was one through the history.
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

  /// Keeps a command that was run in the history, once, as the newest.
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
  /// The text that runs the row's command when typed.
  var completion: String? {
    switch target {
    case .invocation(let command, let text): "\(command.name) \(text)"
    case .command(let command): command.argument.map { _ in command.name + " " } ?? title
    case .problem: nil
    // Places, and things that are made once, are not worth keeping.
    case .row, .percent, .newDocument, .newDocumentIn, .timeline, .recording: nil
    case .theme, .collection, .document, .stopListener, .editListener: title
    }
  }
}
