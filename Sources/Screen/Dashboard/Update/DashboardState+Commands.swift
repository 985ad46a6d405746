// SPDX-License-Identifier: Apache-2.0
import ClientPort
import DashboardModel
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import TerminalCanvas

extension DashboardState {
  /// Runs a command, or shows why it is unavailable.
  mutating func perform(_ command: Command) -> [Effect] {
    if let reason = command.reason(self) {
      toast(.info, reason)
      return []
    }
    return command.run(&self)
  }

  /// Runs the command of a key in the current context.
  mutating func run(_ key: Key) -> [Effect] {
    configuration.keymap.command(for: key, in: contexts).map { perform($0) } ?? []
  }

  /// Runs a command of the current context by its name, regardless of its keys.
  mutating func run(_ name: String) -> [Effect] {
    configuration.keymap.command(named: name, in: contexts).map { perform($0) } ?? []
  }

  // MARK: Modes

  mutating func toggleNetwork() -> [Effect] { [.client(.setNetwork(enabled: !network.isNetworkEnabled))] }

  /// The state of the network after the next press of its switch.
  var otherNetworkState: String { network.isNetworkEnabled ? "offline" : "online" }

  mutating func togglePause() { feed.isPaused ? feed.follow() : pauseFeed() }

  mutating func toggleMouse() -> [Effect] {
    screen.toggleMouse()
    toast(.info, screen.isMouseOn ? "mouse on" : "mouse off: the terminal selects text again")
    return [.terminal(.setMouse(screen.isMouseOn))]
  }

  // MARK: Leaving

  mutating func interrupt() -> [Effect] {
    if overlay != nil { return cancel() }
    if typing.interrupt(at: now) { return [.terminal(.quit(code: 130))] }
    toast(.info, "ctrl-c again quits")
    return []
  }

  mutating func goBack() -> [Effect] {
    if rowRange(in: focus) != nil {
      endRange()
      return []
    }
    if screen.isZoomed {
      screen.zoom(false)
      return []
    }
    if focus == .detail, let key = detail?.key {
      detail = nil
      focus = .collections
      return [.client(.closeDetail(key))]
    }
    if focus == .collections, browser.result != nil {
      closeResult()
      return []
    }
    if focus == .writes, !writes.filter.isEmpty {
      writes.filter = .none
      return []
    }
    if let path = filteredCollection, focus == .collections {
      let stopped = browser.stopSearch(of: path)
      return stopped.isEmpty ? clearFilter(of: path) : stopped
    }
    if focus == .collections, let visited = browser.visited, browser.windows[visited]?.loaded.isEmpty != false {
      return browser.forgetVisit()
    }
    if focus == .feed, showsRequests {
      leaveRequests()
    } else if focus == .feed, feed.isFiltered {
      feed.clearFilter()
    } else if focus == .feed, feed.isPaused {
      feed.follow()
    } else if let key = detail?.key {
      detail = nil
      return [.client(.closeDetail(key))]
    } else {
      coach = coach?.ended()
    }
    return []
  }

  mutating func goBackOrQuit() -> [Effect] {
    if focus == .detail || screen.isZoomed || focus == .collections && browser.result != nil { return goBack() }
    if let transfer = storage.transfers.running {
      let rest =
        transfer.request.isImport ? "To continue later, start the same import again." : "No file is written."
      overlay = .confirm(
        Confirmation(
          title: "Quit", body: ["\(transfer.request.title) is still running.", rest], action: "Quit", subject: .quit))
      return []
    }
    // Only the scenario's own writes are lost with it.
    if isInScenario { return [.terminal(.quit(code: 0))] }
    if let question = quitQuestion {
      overlay = .confirm(question)
      return []
    }
    let count = writes.waiting + writes.rejected.count
    // Another program continues with all its pending writes.
    guard !network.isDurable, count > 0, configuration.attached == nil else { return [.terminal(.quit(code: 0))] }
    overlay = .confirm(
      Confirmation(
        title: "Quit",
        body: ["\(count) write\(count == 1 ? "" : "s") not sent yet will be lost:", "the cache is in memory."],
        action: "Quit", subject: .quit))
    return []
  }

  // MARK: Focus

  mutating func focusPane(_ pane: Pane) {
    if pane == .detail, detail == nil { return }
    focus = pane
  }

  /// Focuses the open document. If none is open, opens the selected document.
  mutating func focusDetail() -> [Effect] {
    guard detail != nil else { return openSelected() }
    focusPane(.detail)
    return []
  }

  mutating func cycleFocus(by step: Int) {
    let all = visiblePanes
    let index = all.firstIndex(of: focus) ?? 0
    focus = all[((index + step) % all.count + all.count) % all.count]
  }

  /// The panes that `tab` moves through: all panes on the screen. The focused pane is always visible.
  var visiblePanes: [Pane] {
    [.collections, .writes, .network, .detail, .feed].filter { $0 != .detail || detail != nil }
  }

  mutating func cycleTab(by step: Int) {
    guard let tab = detail?.tab else { return }
    let count = Detail.Tab.allCases.count
    show(Detail.Tab(rawValue: (tab.rawValue + step + count) % count) ?? .data)
  }

  /// Shows a message about the user's connections. A dashboard cannot switch to another database, because its
  /// listeners, queue and history belong to the current one.
  mutating func tellConnections() {
    let names = configuration.connections
    toast(.info, "hearth --connection NAME opens another: \(names.joined(separator: ", ")).")
  }

  mutating func show(_ tab: Detail.Tab) {
    detail?.tab = tab
    detail?.cursor = Cursor()
    focus = .detail
  }
}

extension DashboardState {
  /// Handles `esc`: closes the overlay and reverts its preview.
  mutating func cancel() -> [Effect] {
    guard let open = overlay else { return [] }
    if case .fields = open { return leaveFieldEditor() }
    overlay = nil
    switch open {
    case .list(let list):
      switch list.content {
      case .themes(let original): return show(theme: original)
      case .explanation(let panel): overlay = panel.editor.map { .listener($0) }
      case .columns(let picker): pickColumns(picker.original, of: picker.path)
      case .decision(let decision): if let text = decision.leaving { toast(.info, text) }
      case .help, .palette, .copyMenu, .newMenu, .messages, .faults, .listeners, .request, .inside, .wall: break
      }
    case .filter(let line): return dropFilter(of: line)
    case .listener, .confirm, .fields, .prompt: break
    }
    return []
  }

  /// Performs the selected answer of a confirmation.
  mutating func acceptAnswer() -> [Effect] {
    guard let question = overlay?.confirmation, question.isActionSelected else { return cancel() }
    guard question.isAllowed else {
      toast(.warning, "type \(question.required ?? "") first")
      return []
    }
    overlay = nil
    return carryOut(question.subject)
  }

  // MARK: The listener editor

  mutating func copySwift() -> [Effect] {
    guard let editor = overlay?.editor, let query = validQuery(of: editor) else { return [] }
    return [.terminal(.copy(SwiftCode.lines(for: query).joined(separator: "\n")))]
  }

  /// The query in the editor. If it is invalid, returns `nil` and shows why.
  mutating func validQuery(of editor: ListenerEditor) -> Query? {
    do throws(ListenerEditorError) { return try editor.query(in: configuration.database) } catch {
      toast(.warning, error.reason)
      return nil
    }
  }
}

extension DashboardState {
  /// Focuses the pane in the direction of a key. `w` and `ctrl-w` focus the next pane. If one pane fills the screen,
  /// the panes are treated as a row.
  mutating func goToPane(_ key: Key) {
    let direction: Layout.Direction
    switch key {
    case .character("h"), Key(.left), .ctrl("h"): direction = .left
    case .character("j"), Key(.down), .ctrl("j"): direction = .down
    case .character("k"), Key(.up), .ctrl("k"): direction = .up
    case .character("l"), Key(.right), .ctrl("l"): direction = .right
    case .character("w"), .ctrl("w"): return cycleFocus(by: 1)
    default: return
    }
    let layout = layout(size)
    guard layout.layoutClass.isTiled, !screen.isZoomed else {
      return cycleFocus(by: direction == .left || direction == .up ? -1 : 1)
    }
    if let pane = layout.neighbour(of: focus, direction, among: visiblePanes) { focusPane(pane) }
  }
}
