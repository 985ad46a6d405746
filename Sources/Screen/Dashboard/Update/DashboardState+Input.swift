// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreClientState
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
          .warning, "nothing was pasted: the text is too long for a line; e in the field editor opens $EDITOR")
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
    if key == .character("?"), open.list?.showsFirstKeys == true {
      openWholeHelp()
      return []
    }
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

  /// Handles a key while no overlay is open. A digit can begin the row number of the `G` command.
  private mutating func pressOnScreen(_ key: Key) -> [Effect] {
    if focus == .collections { browser.destination = nil }
    if typing.takeDigit(key.typedCharacter) { return [] }
    guard let row = typing.takeRow() else { return run(key) }
    if key == .character("G") { return jump(row: row) }
    return key == Key(.escape) ? [] : run(key)
  }

  /// Handles a change of the text that is typed in the open overlay.
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

  /// Handles a letter in an overlay without a text field. The letter selects a row, or has the same effect as another
  /// key.
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

extension DashboardState {
  private static let wheelRows = 3

  mutating func handle(_ mouse: MouseEvent) -> [Effect] {
    switch mouse.kind {
    case .wheelUp, .wheelDown: return scroll(mouse)
    case .press: browser.destination = nil
    case .drag:
      drag(to: mouse.point)
      return []
    case .release:
      screen.grab(nil)
      return []
    }
    guard mouse.button == .left else { return [] }
    let isDouble = typing.click(at: mouse.point, now)
    let layout = layout(size)
    if let toast = toastArea(layout), toast.contains(mouse.point) {
      // Dismisses the message; the list of messages has it in full.
      notices.dismiss()
      if overlay == nil { openMessages() }
      return []
    }
    if let footer = layout.footer, footer.contains(mouse.point) {
      guard overlay?.filterLine == nil else { return [] }
      return Footer(self, width: footer.width).command(at: mouse.x).map { perform($0) } ?? []
    }
    if let overlay { return press(overlay, at: mouse.point, layout, isDouble: isDouble) }
    if let tabs = layout.tabs, tabs.contains(mouse.point) {
      if let pane = PaneTabs(self, width: tabs.width).pane(at: mouse.x) { focusPane(pane) }
      return []
    }
    if layout.header.contains(mouse.point) {
      // The storage's badge reports a storage problem; the others concern the connection.
      if storage.notice?.badge != nil { openMessages() } else { focusPane(.network) }
      return []
    }
    if let band = layout.band, band.contains(mouse.point) {
      let moment = SessionBandGeometry(self, layout).moment(at: mouse.x)
      return moment.map { [.timeline(.seek(.moment($0)))] } ?? []
    }
    screen.grab(layout.border(at: mouse.point))
    guard let pane = layout.pane(at: mouse.point) else { return [] }
    return press(pane, at: mouse.point, layout, isDouble: isDouble)
  }

  /// Handles a click in an overlay: on a button or on a row. A second click on a row acts like `enter`.
  private mutating func press(_ open: Overlay, at point: Point, _ layout: Layout, isDouble: Bool) -> [Effect] {
    switch open {
    case .confirm(let question):
      guard let isAction = ConfirmGeometry(question, layout, configuration.glyphs).isAction(at: point) else {
        return []
      }
      overlay?.confirmation?.isActionSelected = isAction
      return acceptAnswer()
    case .list(let list):
      guard let rows = geometry(of: list, layout)?.rows else { return isDouble ? run(Key(.enter)) : [] }
      let range = list.cursor.rows(count: count(of: list), height: rows.height)
      guard rows.contains(point), range.contains(range.lowerBound + point.y - rows.y) else { return [] }
      let effects = moveOverlay(by: range.lowerBound + point.y - rows.y - list.cursor.index)
      if case .columns = list.content {
        toggleColumn()
        return effects
      }
      return isDouble ? effects + run(Key(.enter)) : effects
    case .fields(let editor): return press(editor, at: point, layout, isDouble: isDouble)
    case .filter, .listener, .prompt: return isDouble ? run(Key(.enter)) : []
    }
  }

  /// Handles a click in a pane: on a button or on a row.
  private mutating func press(_ pane: Pane, at point: Point, _ layout: Layout, isDouble: Bool) -> [Effect] {
    if pane == .detail, detail == nil { return shownDetail.map { openDetail($0.key) } ?? [] }
    focusPane(pane)
    // A click unfolds the pane, which had no rows to click on.
    guard layout.panes[pane] != nil else { return [] }
    let status = PaneTitle.feedStatus(layout.layoutClass)
    if pane == .feed, layout.layoutClass.isTiled, point.y == layout.panes[.feed]?.y,
      status..<status + 9 ~= point.x
    {
      showsRequests ? toggleRequestsHeld() : togglePause()
      return []
    }
    let geometry = geometry(of: pane, layout)
    let column = point.x - geometry.content.x
    if point.y == geometry.hints, let command = PaneHints(pane, self, width: geometry.content.width).command(at: column)
    {
      return perform(command)
    }
    if pane == .collections, point.y == geometry.content.y, geometry.heads > 0,
      let heads = CollectionHeads(self, layout), let key = heads.key(at: column)
    {
      return sort(heads.path, byHead: key)
    }
    if pane == .network, point.y == geometry.content.y,
      NetworkSwitch(self, width: geometry.content.width).columns.contains(column)
    {
      return toggleNetwork()
    }
    if pane == .detail, let open = detail, let row = DetailTabs.row(layout.layoutClass),
      point.y == geometry.content.y + row,
      let tab = DetailTabs.tabs(open).first(where: { $0.columns.contains(column) })
    {
      show(tab.tab)
      return []
    }
    guard select(at: point.y, of: pane, geometry) else { return [] }
    if isFoldMark(at: column, in: pane) { return toggleFold(in: pane) }
    if isDouble, pane == .feed, isListenerName(at: column, layout), let tag = selectedEvent?.listener,
      listening[tag] != nil
    {
      showResult(of: tag)
      return []
    }
    return isDouble ? run(Key(.enter)) : []
  }

  /// Whether a column of the feed belongs to the listener's name. A second click on the name shows the listener's
  /// result.
  private func isListenerName(at column: Int, _ layout: Layout) -> Bool {
    let columns = FeedColumns(self, layout.layoutClass, width: layout.content(of: .feed).width)
    let start = columns.lead + columns.time + columns.gap
    return start..<start + columns.listener ~= column
  }

  private mutating func scroll(_ mouse: MouseEvent) -> [Effect] {
    let step = mouse.kind == .wheelUp ? -Self.wheelRows : Self.wheelRows
    if overlay?.fieldEditor != nil { return moveInEditor(by: step) }
    if overlay != nil { return moveOverlay(by: step) }
    guard let pane = layout(size).pane(at: mouse.point) else { return [] }
    return move(by: step, in: pane)
  }

  /// Selects the row of a pane's list at a row of the screen.
  /// - Returns: whether the list has a row there.
  private mutating func select(at y: Int, of pane: Pane, _ geometry: PaneGeometry) -> Bool {
    let row = y - geometry.rows.y
    guard 0..<geometry.rows.height ~= row else { return false }
    if pane == .feed, let ring = FeedRing(self, height: geometry.rows.height) {
      guard let index = ring.index(at: row) else { return false }
      holdFeed()
      select(in: pane) { _ in index }
      return true
    }
    if pane == .feed {
      guard row < (showsRequests ? requests.shown.count : feed.shown.count) else { return false }
      holdFeed()
    }
    var isFound = false
    select(in: pane) { list in
      isFound = list.top + row < list.count
      return isFound ? list.top + row : nil
    }
    return isFound
  }

  /// Whether the fold mark of the selected row is at a column of its pane.
  private func isFoldMark(at column: Int, in pane: Pane) -> Bool {
    switch pane {
    case .collections:
      guard browser.result == nil, let id = browser.cursor.id, let row = browser.rows.first(where: { $0.item == id })
      else { return false }
      let width = layout(size).content(of: .collections).width
      return column == 1 + min(row.depth * 2, width / 2)
    case .detail:
      guard case .field(let line)? = selectedLine?.content, line.isOpen != nil else { return false }
      return (3...5).contains(column - line.depth * 2)
    case .writes, .network, .feed: return false
    }
  }

  private mutating func toggleFold(in pane: Pane) -> [Effect] {
    if pane == .detail {
      if case .field(let line)? = selectedLine?.content { detail?.toggled.formSymmetricDifference([line.path]) }
      return []
    }
    switch browser.cursor.id {
    case .collection(let path)?: return browser.expanded.contains(path) ? browser.collapse(path) : expand(path)
    case .document(let key)?: return browser.expanded.contains(key.path) ? browser.collapse(key.path) : expand(key.path)
    case .field?, .before?, .after?, .note?, nil: return []
    }
  }

  // MARK: Borders

  /// Moves the border that is being dragged.
  private mutating func drag(to point: Point) {
    if screen.isDragging { screen.drag(to: point, in: layout(size)) }
  }
}
