// SPDX-License-Identifier: Apache-2.0
import ClientPort
package import DashboardModel
package import FirestoreClientState
import FirestoreModel
package import TerminalCanvas

/// An overlay that is a list with a cursor.
package struct ListOverlay: Sendable {
  package indirect enum Content: Sendable {
    /// The help with the commands of some contexts, in this order. Unless `isWhole`, it begins with a page that lists
    /// the most important keys and the signs.
    case help([KeyContext], isWhole: Bool)
    case palette(Palette)
    /// The themes, with the theme that `esc` switches back to.
    case themes(original: String)
    case copyMenu([MenuItem])
    case newMenu([MenuItem])
    case messages
    case faults
    case explanation(ExplanationPanel)
    case columns(ColumnPicker)
    case decision(Decision)
    case listeners
    /// All details of a request that security rules decided on.
    case request(RuleDecision)
    case inside(InsidePanel)
    case wall(WallPanel)
  }

  package var content: Content
  /// The search field of the list; `nil` if letters select rows.
  package var field: TextField?
  package var cursor = Cursor<Int>()

  package var kind: Overlay.Kind {
    switch content {
    case .help: .help
    case .palette: .palette
    case .themes: .themes
    case .copyMenu: .copyMenu
    case .newMenu: .newMenu
    case .messages: .messages
    case .faults: .faults
    case .explanation: .explanation
    case .columns: .columns
    case .decision: .decision
    case .listeners: .listeners
    case .request: .request
    case .inside: .inside
    case .wall: .wall
    }
  }

  /// The letter of each row; empty for lists without letters.
  var letters: [Character] {
    switch content {
    case .copyMenu(let items), .newMenu(let items): items.map(\.letter)
    case .faults: FaultItem.allCases.map(\.letter)
    case .explanation: ExplanationPanel.Item.allCases.map(\.letter)
    case .decision(let decision): decision.items.map(\.letter)
    case .help, .palette, .themes, .messages, .columns, .listeners, .request, .inside, .wall: []
    }
  }

  /// The help's commands whose keys or words match the typed text. Without a text, these are the commands of the most
  /// important keys, unless the user requested all keys.
  package func commands(of contexts: [KeyContext], in keymap: Keymap) -> [Command] {
    if showsFirstKeys {
      let all = contexts + [.pane(.collections)]
      return Keymap.firstKeys.flatMap(\.keys).compactMap { keymap.command(named: $0.name, in: all) }
    }
    let filter = search
    return keymap.commands(in: contexts).filter { command in
      let keys = command.keys.map(\.description).joined(separator: " ")
      return filter.matches("\(keys) \(command.help) \(command.name)")
    }
  }

  /// The typed text as a filter. If it is not a valid filter, it is searched for literally, because key names can be
  /// punctuation.
  package var search: RowFilter {
    let text = field?.text ?? ""
    // A help text has no fields, so references can be of any database.
    return (try? RowFilter(text, in: DatabaseID(project: "help")))
      ?? RowFilter(text: text, terms: [.init(condition: .contains(.init(text)))])
  }

  /// Whether the help is on its first page.
  package var showsFirstKeys: Bool {
    if case .help(_, isWhole: false) = content { field?.isEmpty != false } else { false }
  }

  func items(of palette: Palette) -> [Palette.Item] { palette.items(matching: field?.text ?? "") }
}

extension DashboardState {
  /// The row count of a list.
  package func count(of list: ListOverlay) -> Int {
    switch list.content {
    case .help(let contexts, _):
      // The cursor also visits the signs below the first keys, so that small screens can scroll to them.
      list.commands(of: contexts, in: configuration.keymap).count
        + (list.showsFirstKeys ? SignLegend(configuration.glyphs).entries.count : 0)
    case .palette(let palette): items(of: palette, list).count
    case .themes: configuration.themes.count
    case .copyMenu(let items), .newMenu(let items): items.count
    case .messages: messages.count
    case .faults: FaultItem.allCases.count
    case .explanation: ExplanationPanel.Item.allCases.count
    case .columns(let picker): picker.names.count
    case .decision(let decision): decision.items.count
    case .listeners, .wall: listeners.count
    case .request(let decision): requestLines(of: decision, layout(size)).count
    case .inside(let panel): panel.table(insideContext)?.rows.count ?? 0
    }
  }

  /// Moves the cursor of a list. Previews a theme immediately.
  mutating func moveOverlay(by step: Int) -> [Effect] {
    guard let list = overlay?.list, !recall(by: step) else { return [] }
    let count = count(of: list)
    overlay?.list?.cursor.move(by: step, in: 0..<count)
    guard case .themes = list.content, let index = overlay?.list?.cursor.index,
      configuration.themes.indices.contains(index)
    else { return [] }
    return show(theme: configuration.themes[index].slug)
  }

  /// Handles `enter`: performs the action of the selected row.
  mutating func acceptRow() -> [Effect] {
    guard let list = overlay?.list else { return [] }
    let index = list.cursor.index
    let wallListener = wallListener
    overlay = nil
    guard index < count(of: list) else { return [] }
    switch list.content {
    case .help(let contexts, _):
      let commands = list.commands(of: contexts, in: configuration.keymap)
      if commands.indices.contains(index) { return perform(commands[index]) }
      // A sign has nothing to run.
      overlay = .list(list)
      return []
    case .palette(let palette):
      let item = items(of: palette, list)[index]
      if case .problem = item.target {
        // The typed text stays, with the reason next to it.
        overlay = .list(list)
        return []
      }
      if item.needsFullName, list.field?.text.trimmed.lowercased() != item.name {
        openPalette(typed: item.name)
        return []
      }
      let kept = remember(item)
      return run(item.target) + kept
    case .copyMenu(let items), .newMenu(let items): return choose(items[index].choice)
    case .decision(let decision): return choose(decision.items[index].choice)
    case .themes: return keepTheme()
    case .messages: return []
    // Faults can be combined, so the list stays open.
    case .faults:
      overlay = .list(list)
      return choose(FaultItem.allCases[index])
    case .explanation(let panel):
      overlay = .list(list)
      return choose(ExplanationPanel.Item.allCases[index], in: panel)
    case .columns: return []
    case .listeners:
      showResult(of: listeners[index].tag)
      return []
    case .wall:
      if let wallListener { showResult(of: wallListener.tag) }
      return []
    case .request(let decision):
      let path = decision.path
      if path.isRoot { return [] }
      return path.isDocument ? goTo(DocumentKey(unchecked: path)) : openCollection(path)
    case .inside(let panel): return openInside(panel.row(at: index, insideContext)?.subject, from: list)
    }
  }

  /// Handles a letter in a list without a text field.
  mutating func choose(_ letter: Character, in list: ListOverlay) -> [Effect] {
    guard let index = list.letters.firstIndex(of: letter) else { return [] }
    overlay?.list?.cursor.select(index: index, in: list.letters.indices)
    return acceptRow()
  }

  private mutating func choose(_ choice: MenuItem.Choice) -> [Effect] {
    switch choice {
    case .copy(let text): return [.terminal(.copy(text))]
    case .newDocument(let path): return create(.newDocument(in: path), in: path)
    case .newDocumentAtPath:
      askForPath()
      return []
    case .newListener:
      openListenerEditor(from: selectedCollection?.text ?? "")
      return []
    case .editFields(let now):
      editAgain(over: now)
      return []
    case .open(let key): return goTo(key)
    case .openRequest(let batch): return openRequest(of: batch)
    case .perform(let effects, let text):
      if let text { toast(.info, text) }
      return effects
    }
  }

  mutating func run(_ target: Palette.Item.Target) -> [Effect] {
    switch target {
    case .command(let command): return perform(command)
    case .theme(let slug): return choose(theme: slug)
    case .invocation(let command, let text): return perform(command, text)
    case .problem: return []
    case .collection(let path): return openCollection(path)
    case .document(let key): return goTo(key)
    case .newDocumentIn(let path): return create(.newDocument(in: path), in: path)
    case .newDocument(let key): return create(.documentToCreate(key), in: key.collection)
    case .editListener(let tag):
      edit(tag)
      return []
    case .stopListener(let tag): return stopListening(tag)
    case .row(let row): return jump(row: row)
    case .percent(let percent): return jump(percent: percent)
    case .timeline(let effect): return [.timeline(effect)]
    case .recording(let effect): return [.recording(effect)]
    }
  }

  // MARK: Opening

  mutating func openHelp() {
    overlay = .list(ListOverlay(content: .help(screenContexts, isWhole: false), field: TextField()))
  }

  /// Shows all keys instead of only the most important ones.
  mutating func openWholeHelp() {
    guard case .help(let contexts, _)? = overlay?.list?.content else { return }
    overlay?.list?.content = .help(contexts, isWhole: true)
  }
  /// - Parameter text: the initial text.
  mutating func openPalette(typed text: String = "") {
    overlay = .list(ListOverlay(content: .palette(Palette(paletteItems())), field: TextField(text)))
  }
  mutating func openMessages() { overlay = .list(ListOverlay(content: .messages)) }
  mutating func openFaults() { overlay = .list(ListOverlay(content: .faults)) }

  mutating func openThemes() {
    var list = ListOverlay(content: .themes(original: screen.theme))
    let themes = configuration.themes
    list.cursor.select(index: themes.firstIndex { $0.slug == screen.theme } ?? 0, in: themes.indices)
    overlay = .list(list)
  }

  /// Shows a theme, and saves it for the next start.
  mutating func choose(theme slug: String) -> [Effect] { show(theme: slug) + keepTheme() }

  /// Saves the shown theme for the next start.
  private func keepTheme() -> [Effect] { [.terminal(.rememberTheme(screen.theme))] }

  /// Switches to a theme if another one is shown.
  mutating func show(theme slug: String) -> [Effect] {
    guard slug != screen.theme else { return [] }
    screen.show(theme: slug)
    return [.terminal(.setTheme(slug))]
  }
}

/// The geometry of a list's box and of its rows, used for drawing and for mouse events.
package struct ListGeometry {
  /// The count of lines above the rows of the client's internals. They show the sections and the column headings.
  static let insideHead = 2
  /// The maximum count of lines below the rows: a separator line, notes, and the selected row in full.
  static let insideFoot = 6

  package let dialog: Dialog
  package let rows: Rect
}

extension DashboardState {
  /// The geometry of a list; `nil` for a list that does not have one row per item.
  package func geometry(of list: ListOverlay, _ layout: Layout) -> ListGeometry? {
    let glyphs = configuration.glyphs
    switch list.content {
    case .help, .explanation, .decision, .wall: return nil
    case .palette:
      // The height does not depend on the matches: a box that shrinks during typing would repaint the panes below.
      let dialog = Dialog(layout, width: 104, rows: 4 + Palette.shownItems)
      let area = dialog.content
      let top = area.y + (area.height > 3 ? 2 : 1)
      // Two lines below the rows have the selected row's whole text.
      let foot = area.height >= 12 ? 2 : 0
      let height = max(0, min(area.maxY - top - foot, Palette.shownItems))
      return ListGeometry(dialog: dialog, rows: Rect(x: area.x, y: top, width: area.width, height: height))
    case .messages:
      let kept = openedMessageRows(layout, glyphs)
      let dialog = Dialog(layout, width: layout.size.width - 4, rows: max(1, messages.count) + kept)
      var rows = dialog.content
      rows.height = max(0, rows.height - kept)
      return ListGeometry(dialog: dialog, rows: rows)
    case .themes: return plain(layout, width: 64, count: configuration.themes.count)
    case .copyMenu(let items), .newMenu(let items): return plain(layout, width: 64, count: items.count)
    case .faults: return plain(layout, width: 74, count: FaultItem.allCases.count)
    case .listeners: return plain(layout, width: 100, count: listeners.count)
    case .request(let decision): return requestGeometry(of: decision, layout)
    case .inside: return insideGeometry(layout)
    case .columns(let picker): return plain(layout, width: 64, count: picker.names.count)
    }
  }

  /// The box of the page about the client's internals. All sections have the same size, so changing the section
  /// repaints only the contents.
  private func insideGeometry(_ layout: Layout) -> ListGeometry {
    let dialog = Dialog(layout, width: min(140, layout.size.width - 2), rows: layout.size.height - 4)
    var rows = dialog.content
    let head = min(ListGeometry.insideHead, max(0, rows.height - 1))
    let foot = rows.height >= 12 ? ListGeometry.insideFoot : rows.height >= 7 ? 2 : 0
    rows = Rect(x: rows.x, y: rows.y + head, width: rows.width, height: max(0, rows.height - head - foot))
    return ListGeometry(dialog: dialog, rows: rows)
  }

  private func plain(_ layout: Layout, width: Int, count: Int) -> ListGeometry {
    let dialog = Dialog(layout, width: width, rows: max(1, count))
    return ListGeometry(dialog: dialog, rows: dialog.content)
  }

  /// The count of rows below the list of messages. They show a separator line and the full text of the selected
  /// message. Returns 0 if every message fits in its row. The longest message determines the count, so the box keeps
  /// its size when the selection moves.
  private func openedMessageRows(_ layout: Layout, _ glyphs: Glyphs) -> Int {
    let width = layout.size.width - 4
    guard messages.contains(where: { SafeText.columns(of: $0.text) > width - 18 }) else { return 0 }
    return openedRows(messages.map(\.text), width: width, layout, glyphs)
  }

  /// The count of rows for a separator line and for the full text of the longest of some texts.
  private func openedRows(_ texts: [String], width: Int, _ layout: Layout, _ glyphs: Glyphs) -> Int {
    let longest = texts.map { WrappedText.lines($0, width: max(8, width - 6), glyphs.ellipsis).count }.max()
    let room = layout.size.height / 2 - 4
    return longest.map { room > 1 ? min($0, room) + 1 : 0 } ?? 0
  }
}
