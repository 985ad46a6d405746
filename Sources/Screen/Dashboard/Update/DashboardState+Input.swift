// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreModel
import TerminalCanvas

extension DashboardState {
  mutating func handle(_ event: InputEvent) -> [Effect] {
    switch event {
    case .key(let key): return press(key)
    case .mouse(let mouse): return handle(mouse)
    case .paste(let text):
      guard var field = overlay?.field else { return [] }
      if overlay?.fieldEditor != nil, !field.holds(text) {
        toast(
          .warning, "nothing was pasted: the text is too long for a line, e in the field editor takes it to $EDITOR")
        return []
      }
      field.insert(text)
      return type(field)
    case .resize(let newSize): return resize(newSize)
    case .focus, .reply: return []
    }
  }

  private mutating func press(_ key: Key) -> [Effect] {
    typing.note(key, at: now)
    if key != .ctrl("c") { typing.forgetInterrupt() }
    if key != Key(.escape) { coach?.goOn() }
    if answerCard(key) { return [] }
    if let verb = typing.takeBookmarkVerb() { return finishBookmark(verb, key.typedCharacter) }
    if typing.takesDirection() {
      goToPane(key)
      return []
    }
    guard let open = overlay else { return pressOnScreen(key) }
    if var field = open.field {
      if let character = key.typedCharacter {
        field.insert(String(character))
        return type(field)
      }
      if key == .ctrl("v"), let copied = typing.copied { return handle(.paste(copied)) }
      if key == Key(.right), field.position == field.characters.count, open.kind == .palette {
        completePalette()
        return []
      }
      if configuration.keymap.command(for: key, in: contexts) == nil, field.edit(key.description) { return type(field) }
    } else if let character = key.typedCharacter {
      return choose(character)
    }
    return run(key)
  }

  /// A key on the screen itself: digits may be the beginning of a row for `G`.
  private mutating func pressOnScreen(_ key: Key) -> [Effect] {
    if focus == .collections { browser.destination = nil }
    if typing.takeDigit(key.typedCharacter) { return [] }
    guard let row = typing.takeRow() else { return run(key) }
    if key == .character("G") { return jump(row: row) }
    return key == Key(.escape) ? [] : run(key)
  }

  /// The text of the open overlay's line changed.
  private mutating func type(_ field: TextField) -> [Effect] {
    overlay?.field = field
    switch overlay {
    case .filter(let line): applyLiveFilter(line)
    case .list(var list):
      if case .palette(var palette) = list.content {
        palette.recalled = nil
        list.content = .palette(palette)
        overlay = .list(list)
      }
      let count = count(of: list)
      overlay?.list?.cursor.select(index: 0, in: 0..<count)
    case .listener, .confirm, .fields, .prompt, nil: break
    }
    return []
  }

  /// A letter in an overlay that has no line to type into: it chooses a row, or stands for another key.
  private mutating func choose(_ letter: Character) -> [Effect] {
    if let list = overlay?.list, list.letters.contains(letter) { return choose(letter, in: list) }
    if let editor = overlay?.fieldEditor { return choose(letter, in: editor) }
    switch (overlay, letter) {
    case (_, "Q"): return [.terminal(.quit(code: 0))]
    case (.list, "q"), (.confirm, "q"), (.confirm, "n"): return run("cancel")
    case (.list, "j"): return run("down")
    case (.list, "k"): return run("up")
    case (.confirm, "h"), (.confirm, "l"): return run("next-field")
    case (.listener, " "): overlay?.editor?.toggle()
    case (let open?, _):
      return configuration.keymap.command(for: .character(letter), in: [.overlay(open.kind)]).map { perform($0) } ?? []
    default: break
    }
    return []
  }

  private mutating func resize(_ newSize: Size) -> [Effect] {
    screen.resize(to: newSize)
    let limit = windowLimit
    var effects: [Effect] = []
    // A window smaller than the pane would leave rows empty although there are documents for them.
    for path in browser.expanded.sorted() {
      guard let shown = browser.windows[path]?.shown, shown.limit < limit / 2 else { continue }
      effects += browser.open(path, at: shown.place, landing: .stay, limit: limit, in: configuration.database)
    }
    return effects
  }
}
