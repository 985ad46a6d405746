// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import TerminalCanvas

extension DashboardState {
  mutating func handle(_ event: InputEvent) -> [Effect] {
    switch event {
    case .key(let key): return press(key)
    case .mouse(let mouse): return handle(mouse)
    case .paste(let text):
      guard var field = overlay?.field else { return [] }
      field.insert(text)
      return type(field)
    case .resize(let newSize): return resize(newSize)
    case .focus, .reply: return []
    }
  }

  private mutating func press(_ key: Key) -> [Effect] {
    if key != .ctrl("c") { lastInterrupt = nil }
    if let verb = bookmarkVerb { return finishBookmark(verb, key.typedCharacter) }
    guard let open = overlay else { return run(key) }
    if var field = open.field {
      if let character = key.typedCharacter {
        field.insert(String(character))
        return type(field)
      }
      if Keymap.command(for: key, in: contexts) == nil, field.edit(key.description) { return type(field) }
    } else if let character = key.typedCharacter {
      return choose(character)
    }
    return run(key)
  }

  /// The text of the open overlay's line changed.
  private mutating func type(_ field: TextField) -> [Effect] {
    overlay?.field = field
    switch overlay {
    case .filter(let line): applyLiveFilter(line)
    case .list(let list):
      let count = count(of: list)
      overlay?.list?.cursor.select(index: 0, in: 0..<count)
    case .listener, .confirm, nil: break
    }
    return []
  }

  /// A letter in an overlay that has no line to type into: it chooses a row, or stands for another key.
  private mutating func choose(_ letter: Character) -> [Effect] {
    if let list = overlay?.list, list.letters.contains(letter) { return choose(letter, in: list) }
    switch (overlay, letter) {
    case (_, "Q"): return [.terminal(.quit(code: 0))]
    case (.list, "q"), (.confirm, "q"), (.confirm, "n"): return run(Key(.escape))
    case (.list(let list), "j") where list.letters.isEmpty: return run(Key(.down))
    case (.list(let list), "k") where list.letters.isEmpty: return run(Key(.up))
    case (.confirm, "h"), (.confirm, "l"): return run(Key(.tab))
    case (.listener, " "): overlay?.editor?.toggle()
    default: break
    }
    return []
  }

  private mutating func resize(_ newSize: Size) -> [Effect] {
    size = newSize
    let limit = windowLimit
    var effects: [Effect] = []
    // A window smaller than the pane would leave rows empty although there are documents for them.
    for path in browser.expanded.sorted() {
      guard let shown = browser.windows[path]?.shown, shown.limit < limit / 2 else { continue }
      effects += browser.open(path, at: shown.place, landing: .stay, limit: limit, in: configuration.database)
    }
    return effects
  }

  // MARK: Mouse

  /// Two clicks on one place within this many milliseconds are one double click.
  private static let doubleClick: Int64 = 400
  private static let wheelRows = 3

  private mutating func handle(_ mouse: MouseEvent) -> [Effect] {
    switch mouse.kind {
    case .wheelUp, .wheelDown: return scroll(mouse)
    case .press: break
    case .release, .drag: return []
    }
    guard mouse.button == .left else { return [] }
    let isDouble =
      lastClick.map { $0.point == mouse.point && now.milliseconds(since: $0.time) <= Self.doubleClick } ?? false
    lastClick = isDouble ? nil : (mouse.point, now)
    let layout = layout(size)
    if let footer = layout.footer, footer.contains(mouse.point) {
      guard overlay?.filterLine == nil else { return [] }
      return Footer(self, width: footer.width).command(at: mouse.x).map { perform($0) } ?? []
    }
    guard overlay == nil else { return isDouble ? run(Key(.enter)) : [] }
    if let tabs = layout.tabs, tabs.contains(mouse.point) {
      if let pane = PaneTabs(self, width: tabs.width).pane(at: mouse.x) { focusPane(pane) }
      return []
    }
    guard let pane = layout.pane(at: mouse.point) else { return [] }
    focusPane(pane)
    select(at: mouse.y, of: pane, geometry(of: pane, layout))
    return isDouble ? run(Key(.enter)) : []
  }

  private mutating func scroll(_ mouse: MouseEvent) -> [Effect] {
    let step = mouse.kind == .wheelUp ? -Self.wheelRows : Self.wheelRows
    if overlay != nil { return moveOverlay(by: step) }
    guard let pane = layout(size).pane(at: mouse.point) else { return [] }
    return move(by: step, in: pane)
  }

  /// Selects the row of a pane's list at a row of the screen.
  private mutating func select(at y: Int, of pane: Pane, _ geometry: PaneGeometry) {
    let row = y - geometry.rows.y
    guard 0..<geometry.rows.height ~= row else { return }
    if pane == .feed {
      guard row < feed.shown.count else { return }
      pauseFeed()
    }
    select(in: pane) { list in list.top + row < list.count ? list.top + row : nil }
  }
}
