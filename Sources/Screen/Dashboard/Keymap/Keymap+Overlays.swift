// SPDX-License-Identifier: Apache-2.0
import DashboardModel

/// The commands of the overlays.
extension Keymap {
  static let overlays: [Command] =
    list(.help, accept: "run the selected binding", hint: "run")
    + list(.palette, accept: "run", hint: "run")
    + list(.themes, accept: "keep this theme", hint: "keep")
    + list(.copyMenu, accept: "copy", hint: "copy")
    + list(.newMenu, accept: "choose", hint: "choose")
    + list(.faults, accept: "switch it, or let it happen to the next write", hint: "switch")
    + list(.explanation, accept: "do what the row says", hint: "do it")
    + list(.decision, accept: "do what the row says", hint: "do it")
    + list(.messages, accept: "close", hint: nil)
    + list(.columns, accept: "keep these columns", hint: "keep")
    + list(.request, accept: "open the document or collection", hint: "open")
    + list(.inside, accept: "open the document or collection", hint: "open") + inside
    + list(.wall, accept: "its result in the order of its query", hint: "result") + wall
    + list(.listeners, accept: "its result in the order of its query", hint: "result")
    + palette + columns + filter + confirm + listener + fieldEditor + listeners + prompt

  private static func list(_ kind: Overlay.Kind, accept: String, hint: Wording?) -> [Command] {
    [
      Command("accept", "enter", in: .overlay(kind), accept, hint: hint, 2, run: { $0.acceptRow() }),
      Command("cancel", "esc", in: .overlay(kind), "close", hint: "close", 1, run: { $0.cancel() }),
      Command("down", "down ctrl-n", in: .overlay(kind), "down", hint: "down", 4, run: { $0.moveOverlay(by: 1) }),
      Command("up", "up ctrl-p", in: .overlay(kind), "up", hint: "up", 3, run: { $0.moveOverlay(by: -1) }),
      Command("page-down", "pgdn", in: .overlay(kind), "a page down", run: { $0.moveOverlay(by: 10) }),
      Command("page-up", "pgup", in: .overlay(kind), "a page up", run: { $0.moveOverlay(by: -10) }),
    ] + (typed.contains(kind) ? [] : ends(of: kind))
  }

  /// The lists with a line to type into, in which these keys edit the line.
  private static let typed: Set<Overlay.Kind> = [.help, .palette]

  private static func ends(of kind: Overlay.Kind) -> [Command] {
    [
      Command("top", "g home", in: .overlay(kind), "first row", run: { $0.moveOverlay(by: Int.min / 2) }),
      Command("bottom", "G end", in: .overlay(kind), "last row", run: { $0.moveOverlay(by: Int.max / 2) }),
      Command("half-page-down", "ctrl-d", in: .overlay(kind), "half a page down", run: { $0.moveOverlay(by: 5) }),
      Command("half-page-up", "ctrl-u", in: .overlay(kind), "half a page up", run: { $0.moveOverlay(by: -5) }),
    ]
  }

  private static let palette: [Command] = [
    Command(
      "complete", "tab", in: .overlay(.palette), "type what the row says; right at the end of the line too",
      hint: "complete", 5, change: { $0.completePalette() })
  ]

  private static let inside: [Command] = [
    Command(
      "next-section", "tab right", in: .overlay(.inside), "next section", hint: "next", 3, run: { $0.turnInside(by: 1) }
    ),
    Command(
      "previous-section", "shift-tab left", in: .overlay(.inside), "section before", run: { $0.turnInside(by: -1) }),
    Command(
      "refresh-inside", "r", in: .overlay(.inside), "ask again, or count the cache again", hint: "again", 5,
      run: { $0.refreshInside() }),
    Command(
      "restart-stream", "K", in: .overlay(.inside), "give the selected stream up, and begin it anew", hint: "restart",
      4, unless: { $0.reasonAgainstRestart }, run: { $0.restartSelectedStream() }),
    Command(
      "end-retention", "d", in: .overlay(.inside), "end the selected pin or lifetime", hint: "end", 6,
      unless: { $0.reasonAgainstEnding }, run: { $0.endSelectedRetention() }),
  ]

  private static let wall: [Command] = [
    Command(
      "wall-order", "s", in: .overlay(.wall), "order: as opened, by rate, by name", hint: "order", 5,
      change: { $0.changeWallOrder() }),
    Command(
      "toggle-network", "o", in: .overlay(.wall), "go offline or online",
      hint: Wording { "go " + $0.otherNetworkState }, 6, run: { $0.toggleNetwork() }),
    Command("wall", "M", in: .overlay(.wall), "close", run: { $0.cancel() }),
  ]

  private static let columns: [Command] = [
    Command(
      "toggle-column", "space", in: .overlay(.columns), "show or hide the field's column", hint: "show or hide", 1,
      change: { $0.toggleColumn() }),
    Command(
      "reset-columns", "a", in: .overlay(.columns), "automatic: the fields that tell most", hint: "automatic", 3,
      change: { $0.resetColumns() }),
  ]

  private static let filter: [Command] = [
    Command("accept", "enter", in: .overlay(.filter), "keep the filter", hint: "keep", 1, run: { $0.acceptFilter() }),
    Command("cancel", "esc", in: .overlay(.filter), "drop the filter", hint: "clear", 2, run: { $0.cancel() }),
  ]

  private static let confirm: [Command] = [
    Command(
      "accept", "enter", in: .overlay(.confirm), "the selected answer", hint: "choose", 1,
      run: { $0.acceptAnswer() }),
    Command("cancel", "esc", in: .overlay(.confirm), "cancel", hint: "cancel", 2, run: { $0.cancel() }),
    Command(
      "next-field", "tab right", in: .overlay(.confirm), "other answer", hint: "other answer", 3,
      change: { $0.overlay?.confirmation?.isActionSelected.toggle() }),
    Command(
      "previous-field", "shift-tab left", in: .overlay(.confirm), "other answer",
      change: { $0.overlay?.confirmation?.isActionSelected.toggle() }),
  ]

  private static let listener: [Command] = [
    Command(
      "next-field", "tab down", in: .overlay(.listener), "next field", hint: "next", 1,
      change: { $0.overlay?.editor?.move(by: 1) }),
    Command(
      "previous-field", "shift-tab up", in: .overlay(.listener), "previous field",
      change: { $0.overlay?.editor?.move(by: -1) }),
    Command(
      "accept", "enter", in: .overlay(.listener), "start listening, or replace the listener that is edited",
      hint: Wording { $0.overlay?.editor?.replaced == nil ? "start listening" : "replace" }, 2,
      run: { $0.acceptListener() }),
    Command(
      "toggle-option", "ctrl-t", in: .overlay(.listener), "switch the option or operator", hint: "switch", 4,
      change: { $0.overlay?.editor?.toggle() }),
    Command(
      "remove-clause", "ctrl-x", in: .overlay(.listener), "remove the clause", hint: "remove clause", 5,
      change: { $0.overlay?.editor?.removeClause() }),
    Command(
      "copy-swift", "ctrl-y", in: .overlay(.listener), "copy the Swift code", hint: "copy Swift", 6,
      run: { $0.copySwift() }),
    Command(
      "explain", "ctrl-o", in: .overlay(.listener), "explain: how the cache answers it", hint: "explain", 7,
      run: { $0.explainEdited() }),
    Command(
      "make-index", "ctrl-g", in: .overlay(.listener), "make the local index that the query lacks", hint: "make index",
      8, run: { $0.indexEdited() }),
    Command("cancel", "esc", in: .overlay(.listener), "cancel", hint: "cancel", 3, run: { $0.cancel() }),
  ]

  private static let listeners: [Command] = [
    Command(
      "edit-listener", "e", in: .overlay(.listeners), "edit: the query, the name, the options", hint: "edit", 5,
      unless: { $0.listeners.isEmpty ? "no listener is open" : nil },
      change: { state in state.listedListener.map { state.edit($0.tag) } }),
    Command(
      "new", "n", in: .overlay(.listeners), "new listener", hint: "new", 5, change: { $0.openListenerEditor(from: "") }),
    Command(
      "duplicate", "d", in: .overlay(.listeners), "duplicate: edit a copy", hint: "duplicate", 6,
      unless: { $0.listeners.isEmpty ? "no listener is open" : nil },
      change: { state in state.listedListener.map { state.edit($0.tag, asCopy: true) } }),
    Command(
      "rename", "r", in: .overlay(.listeners), "rename", hint: "rename", 7,
      unless: { $0.listeners.isEmpty ? "no listener is open" : nil },
      change: { state in state.listedListener.map { state.askForListenerName($0.tag) } }),
    Command(
      "stop", "x", in: .overlay(.listeners), "stop listening", hint: "stop", 8,
      unless: { $0.listeners.isEmpty ? "no listener is open" : nil },
      run: { $0.stopListed() }),
    Command(
      "save", "s", in: .overlay(.listeners), "save all to a file", hint: "save", 9,
      unless: { $0.listeners.isEmpty ? "no listener is open" : nil }, change: { $0.askWhereToSaveListeners() }),
    Command(
      "open-file", "o", in: .overlay(.listeners), "open those of a file", hint: "open file", 10,
      change: { $0.askForListenerFile() }),
  ]

  private static let prompt: [Command] = [
    Command("accept", "enter", in: .overlay(.prompt), "take the line", hint: "do it", 1, run: { $0.acceptPrompt() }),
    Command("cancel", "esc", in: .overlay(.prompt), "cancel", hint: "cancel", 2, run: { $0.cancel() }),
  ]
}
