// SPDX-License-Identifier: Apache-2.0
import ClientPort
import DashboardModel
import FirestoreClientState
import FirestoreModel
import TerminalCanvas

/// The commands of the whole screen.
extension Keymap {
  static let always: [Command] = [
    Command(
      "interrupt", "ctrl-c", in: .always, "cancel; twice within a second quits", isListed: false,
      run: { $0.interrupt() }),
    Command("redraw", "ctrl-l", in: .always, "paint the screen again", run: { _ in [.terminal(.redraw)] }),
    Command("suspend", "ctrl-z", in: .always, "suspend", run: { _ in [.terminal(.suspend)] }),
  ]

  static let screen: [Command] = everywhere + focus + clients + leaving + motions + arrangement + actions

  /// The heading under which help lists a command of the whole screen.
  package static func group(of name: String) -> String {
    let groups = [("Panes", focus + clients), ("Back and out", leaving), ("Moving", motions), ("Layout", arrangement)]
    return groups.first { $0.1.contains { $0.name == name } }?.0 ?? KeyContext.screen.title
  }

  /// A key on the first page of the help, with a short description. Narrow screens show a single word instead.
  package struct FirstKey: Sendable {
    package let name: String
    package let words: String
    package let word: String

    fileprivate init(_ name: String, _ words: String, _ word: String) {
      (self.name, self.words, self.word) = (name, words, word)
    }
  }

  /// The twelve keys of the first page, in groups.
  package static let firstKeys: [(group: String, keys: [FirstKey])] = [
    (
      "Look",
      [
        FirstKey("open", "open", "open"), FirstKey("filter", "filter, search", "filter"),
        FirstKey("result", "its result", "result"), FirstKey("wall", "all listeners", "wall"),
      ]
    ),
    (
      "Change",
      [
        FirstKey("listen", "listen, or stop", "listen"), FirstKey("new", "new document", "new"),
        FirstKey("edit-fields", "edit fields", "edit"), FirstKey("undo", "undo", "undo"),
      ]
    ),
    (
      "Network and more",
      [
        FirstKey("toggle-network", "offline, online", "offline"), FirstKey("faults", "faults", "faults"),
        FirstKey("inside", "inside the client", "inside"), FirstKey("palette", "every command", "command"),
      ]
    ),
  ]

  private static let everywhere: [Command] = [
    Command(
      "help", "? f1", in: .screen, "help: common keys and symbols; press again for all keys here", hint: "help",
      6, change: { $0.openHelp() }),
    Command(
      "palette", ": ctrl-p", in: .screen, "command palette; :42 and :50% jump to a row", hint: "command", 7,
      isListed: false, change: { $0.openPalette() }),
    Command(
      "filter", "/", in: .screen, "filter this pane; in a document search", hint: "filter", 8,
      unless: { $0.reasonAgainstFilter }, change: { $0.openFilter() }),
    Command(
      "toggle-network", "o", in: .screen, "go offline or online",
      hint: Wording { ($0.size.width < 44 ? "" : "go ") + $0.otherNetworkState }, 3,
      title: Wording { "go " + $0.otherNetworkState }, run: { $0.toggleNetwork() }),
    Command(
      "toggle-pause", "p", in: .screen, "pause or resume the feed",
      hint: Wording { $0.feed.isPaused ? "resume" : "pause" }, 4,
      title: Wording { $0.feed.isPaused ? "resume the feed" : "pause the feed" }, change: { $0.togglePause() }),
  ]

  private static let focus: [Command] = [
    Command(
      "next-pane", "tab", in: .screen, "next pane", hint: "pane", 10, isListed: false,
      change: { $0.cycleFocus(by: 1) }),
    Command(
      "previous-pane", "shift-tab", in: .screen, "previous pane", isListed: false, change: { $0.cycleFocus(by: -1) }),
    Command(
      "pane-beside", "ctrl-w", in: .screen, "go to the pane in the direction that follows: h j k l, arrows, w",
      isListed: false, change: { $0.typing.waitForDirection() }),
    Command("collections", "1", in: .screen, "go to Collections", change: { $0.focusPane(.collections) }),
    Command("writes", "2", in: .screen, "go to Pending writes", change: { $0.focusPane(.writes) }),
    Command("network", "3", in: .screen, "go to Network", change: { $0.focusPane(.network) }),
    Command("feed", "4", in: .screen, "go to the Live feed", change: { $0.focusPane(.feed) }),
    Command(
      "detail", "0", in: .screen, "go to the document",
      unless: { $0.detail == nil && $0.selectedKey == nil ? "no document is selected" : nil },
      run: { $0.focusDetail() }),
  ]

  private static let leaving: [Command] = [
    Command(
      "open", "enter", in: .screen, "open the selection", hint: "open", 9, isListed: false,
      run: { $0.openSelected() }),
    Command("back", "esc", in: .screen, "back, close, clear the filter", isListed: false, run: { $0.goBack() }),
    Command("quit", "q", in: .screen, "back; at the top quit", hint: "quit", 20, run: { $0.goBackOrQuit() }),
    Command("quit-now", "Q", in: .screen, "quit now, also from a list", run: { _ in [.terminal(.quit(code: 0))] }),
  ]

  private static let motions: [Command] = [
    Command("down", "j down", in: .screen, "down", isListed: false, run: { $0.move(by: 1) }),
    Command("up", "k up", in: .screen, "up", isListed: false, run: { $0.move(by: -1) }),
    Command("top", "g home <", in: .screen, "first row", isListed: false, run: { $0.moveToEnd(isTop: true) }),
    Command(
      "bottom", "G end >", in: .screen, "last row; 5000G goes to a row", isListed: false,
      run: { $0.moveToEnd(isTop: false) }),
    Command(
      "half-page-down", "ctrl-d", in: .screen, "half a page down", isListed: false,
      run: { $0.move(by: max(1, $0.page / 2)) }),
    Command(
      "half-page-up", "ctrl-u", in: .screen, "half a page up", isListed: false,
      run: { $0.move(by: -max(1, $0.page / 2)) }),
    Command("page-down", "ctrl-f pgdn", in: .screen, "a page down", isListed: false, run: { $0.move(by: $0.page) }),
    Command("page-up", "ctrl-b pgup", in: .screen, "a page up", isListed: false, run: { $0.move(by: -$0.page) }),
  ]

  private static let arrangement: [Command] = [
    Command("zoom", "+", in: .screen, "let this pane fill the screen", change: { $0.screen.zoom(true) }),
    Command(
      "unzoom", "_", in: .screen, "show all panes again", unless: { $0.screen.isZoomed ? nil : "nothing is zoomed" },
      change: { $0.screen.zoom(false) }),
    Command(
      "layout", "|", in: .screen, "next layout; drops changes made with the mouse",
      change: { $0.screen.nextLayout() }),
  ]

  private static let actions: [Command] = [
    Command(
      "range", "v", in: .screen, "select rows to delete, cancel, send or copy; press again to end the range",
      unless: { $0.reasonAgainstRange }, change: { $0.toggleRange() }),
    Command(
      "range-down", "shift-down", in: .screen, "extend the range downwards by a row", isListed: false,
      unless: { $0.reasonAgainstRange }, run: { $0.extendRange(by: 1) }),
    Command(
      "range-up", "shift-up", in: .screen, "extend the range upwards by a row", isListed: false,
      unless: { $0.reasonAgainstRange }, run: { $0.extendRange(by: -1) }),
    Command(
      "set-mark", "m", in: .screen, "mark this row with the letter that follows", change: { $0.typing.wait(for: .set) }),
    Command(
      "go-to-mark", "'", in: .screen, "go to the row marked with the letter that follows",
      change: { $0.typing.wait(for: .go) }),
    Command(
      "undo", "u", in: .screen, "undo the last write made here", writes: true, run: { _ in [.client(.undo())] }),
    Command(
      "redo", "U ctrl-r", in: .screen, "redo the last undone write", writes: true,
      run: { _ in [.client(.redo())] }),
    Command(
      "copy", "y", in: .screen, "copy path, JSON, value, row or Swift", unless: { $0.reasonAgainstCopying },
      change: { $0.openCopyMenu() }),
    Command(
      "themes", "T", in: .screen, "choose a theme with live preview",
      unless: { $0.configuration.themes.isEmpty ? "no themes are installed" : nil }, change: { $0.openThemes() }),
    Command("faults", "F", in: .screen, "faults: latency, losses, rejections", change: { $0.openFaults() }),
    Command(
      "explain", "i", in: .screen, "explain: how the cache answers the query, its indexes",
      unless: { $0.selectedQuery == nil ? "no collection and no listener's row is selected" : nil },
      run: { $0.explainSelected() }),
    Command(
      "inside", "I", in: .screen, "inside the client: targets, limbo, streams, lease, cache, times of queries",
      run: { $0.openInside() }),
    Command(
      "result", "R", in: .screen, "the result of this listener in the order of its query; again: back to the tree",
      unless: { $0.reasonAgainstResult }, change: { $0.showSelectedResult() }),
    Command(
      "listeners", "W", in: .screen, "listeners: their results; edit, duplicate, rename, stop",
      change: { $0.openListeners() }),
    Command(
      "wall", "M", in: .screen, "wall: the last minute of all listeners, own writes and outages on one axis",
      change: { $0.openWall() }),
    Command(
      "mouse", "%", in: .screen, "mouse on or off", title: Wording { $0.screen.isMouseOn ? "mouse off" : "mouse on" },
      run: { $0.toggleMouse() }),
  ]

  /// The palette-only commands.
  static let unbound: [Command] =
    withArgument + recording + scenarioWords + [
      Command("calm", "", in: .screen, "end all faults of the network", run: { $0.cause(.calm) }),
      Command(
        "connections", "", in: .screen, "connections: list them, and how to open another",
        unless: { $0.configuration.connections.isEmpty ? "connections.toml has no connections" : nil },
        change: { $0.tellConnections() }),
      Command(
        "requests", "", in: .screen, "requests: decisions of the server's security rules",
        run: { $0.openRequests() }),
      Command(
        "messages", "", in: .screen, "messages: show earlier messages", change: { $0.openMessages() }),
      Command(
        "save-listeners", "", in: .screen, "listeners: save to a file",
        unless: { $0.listeners.isEmpty ? "no listener is open" : nil }, change: { $0.askWhereToSaveListeners() }),
      Command(
        "open-listeners", "", in: .screen, "listeners: open a file",
        change: { $0.askForListenerFile() }),
      Command(
        "export", "", in: .screen, "export the selection and everything below it to a file",
        title: Wording { state in "export " + (state.exportedPath.map { "\($0.text) to a file" } ?? "the selection") },
        unless: { $0.reasonAgainstTransfer ?? ($0.exportedPath == nil ? "nothing is selected" : nil) },
        change: { state in state.exportedPath.map { state.askForExport(of: [$0]) } }
      ).taking(exportFile { state in state.exportedPath.map { [$0] } }),
      Command(
        "export-all", "", in: .screen, "export the whole database to a file", unless: { $0.reasonAgainstTransfer },
        change: { $0.askForExport(of: nil) }
      ).taking(exportFile { _ in nil }),
      Command(
        "import", "", in: .screen, "import a file that export wrote", writes: true,
        unless: { $0.reasonAgainstTransfer }, change: { $0.askForImport(into: nil) }
      ).taking(importFile { _ in nil }),
      Command(
        "import-into", "", in: .screen, "import a file of plain documents into the selected collection",
        title: Wording { state in
          "import plain documents into " + (state.selectedCollection?.text ?? "the selected collection")
        },
        writes: true,
        unless: { $0.reasonAgainstTransfer ?? ($0.selectedCollection == nil ? "no collection is selected" : nil) },
        change: { $0.askForImport(into: $0.selectedCollection) }
      ).taking(importFile { $0.selectedCollection }),
      Command(
        "transfer", "", in: .screen, "import or export: its progress, cancel it, its result",
        unless: { $0.reasonAgainstShowingTransfer },
        change: { $0.showTransfer() }),
      Command(
        "recount", "", in: .screen, "count the collections of the tree again",
        title: Wording { "count the collections again" + ($0.recountCost.map { ": \($0)" } ?? "") },
        unless: { $0.reasonAgainstRecount }, run: { $0.recount() }),
      Command(
        "clear-filter", "", in: .screen, "show all rows of the feed again",
        unless: { $0.feed.isFiltered ? nil : "the feed is not filtered" }, change: { $0.feed.clearFilter() }),
      Command(
        "reload", "", in: .screen, "reload: read the configuration and the themes again",
        run: { _ in [.terminal(.readAgain)] }),
      Command(
        "row-highlight", "", in: .screen, "selected row: full width, or only a mark",
        change: { $0.screen.toggleHighlight() }),
    ]
}
