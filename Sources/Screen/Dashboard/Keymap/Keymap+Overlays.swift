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
    + list(.faults, accept: "switch the fault, or apply it to the next write", hint: "switch")
    + list(.explanation, accept: "do the row's action", hint: "do it")
    + list(.decision, accept: "do the row's action", hint: "do it")
    + list(.messages, accept: "close", hint: nil)
    + list(.columns, accept: "keep these columns", hint: "keep")
    + list(.request, accept: "open the document or collection", hint: "open")
    + list(.inside, accept: "open the document or collection", hint: "open") + inside
    + list(.wall, accept: "show the result in the order of the query", hint: "result") + wall
    + list(.listeners, accept: "show the result in the order of the query", hint: "result")
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

  /// The lists with a text field. The editing keys change the text in this field.
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
      "complete", "tab", in: .overlay(.palette), "insert the row's text; at the end of the line, right does the same",
      hint: "complete", 5, change: { $0.completePalette() })
  ]

  private static let inside: [Command] = [
    Command(
      "next-section", "tab right", in: .overlay(.inside), "next section", hint: "next", 3, run: { $0.turnInside(by: 1) }
    ),
    Command(
      "previous-section", "shift-tab left", in: .overlay(.inside), "previous section", run: { $0.turnInside(by: -1) }),
    Command(
      "refresh-inside", "r", in: .overlay(.inside), "request the figures again, or count the cache again",
      hint: "again", 5,
      run: { $0.refreshInside() }),
    Command(
      "restart-stream", "K", in: .overlay(.inside), "close the selected stream, and reopen it", hint: "restart",
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
      "reset-columns", "a", in: .overlay(.columns), "automatic: the most informative fields", hint: "automatic", 3,
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
      "make-index", "ctrl-g", in: .overlay(.listener), "create the index that the query lacks", hint: "make index",
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
      "open-file", "o", in: .overlay(.listeners), "open the listeners of a file", hint: "open file", 10,
      change: { $0.askForListenerFile() }),
  ]

  private static let prompt: [Command] = [
    Command("accept", "enter", in: .overlay(.prompt), "accept the line", hint: "do it", 1, run: { $0.acceptPrompt() }),
    Command("cancel", "esc", in: .overlay(.prompt), "cancel", hint: "cancel", 2, run: { $0.cancel() }),
  ]
}

/// The commands of the field editor, in each of its modes.
extension Keymap {
  static let fieldEditor: [Command] = browsing + changing + naming + typing + choosing + reviewing

  /// Opens the field editor from a pane.
  static func editFields(in pane: Pane) -> Command {
    Command(
      "edit-fields", "E", in: .pane(pane), "edit the fields here, with types",
      hint: pane == .detail ? "fields" : nil, 11, writes: true, unless: { $0.reasonAgainstEditing },
      run: { $0.editFields() })
  }

  private static let browsing: [Command] = [
    Command(
      "accept", "enter", in: .overlay(.fields), "type the value; a map's or array's as JSON", hint: "edit", 1,
      run: { $0.typeField() }),
    Command(
      "review", "ctrl-s s", in: .overlay(.fields), "review the resulting write, and send it", hint: "review", 2,
      change: { $0.reviewEdit() }),
    Command("cancel", "esc q", in: .overlay(.fields), "leave the editor", hint: "leave", 3, run: { $0.cancel() }),
    Command(
      "next-field", "tab", in: .overlay(.fields), "edit the next field", change: { $0.typeNextField(by: 1) }),
    Command(
      "previous-field", "shift-tab", in: .overlay(.fields), "edit the previous field",
      change: { $0.typeNextField(by: -1) }),
    Command("down", "j down ctrl-n", in: .overlay(.fields), "down", run: { $0.moveInEditor(by: 1) }),
    Command("up", "k up ctrl-p", in: .overlay(.fields), "up", run: { $0.moveInEditor(by: -1) }),
    Command(
      "page-down", "pgdn ctrl-f ctrl-d", in: .overlay(.fields), "a page down", run: { $0.moveInEditor(by: 10) }),
    Command("page-up", "pgup ctrl-b ctrl-u", in: .overlay(.fields), "a page up", run: { $0.moveInEditor(by: -10) }),
    Command("top", "g home", in: .overlay(.fields), "first field", run: { $0.moveInEditor(by: Int.min / 2) }),
    Command("bottom", "G end", in: .overlay(.fields), "last row", run: { $0.moveInEditor(by: Int.max / 2) }),
    Command("fold", "h left", in: .overlay(.fields), "fold", change: { $0.foldEdited(isOpen: false) }),
    Command("unfold", "l right", in: .overlay(.fields), "unfold", change: { $0.foldEdited(isOpen: true) }),
  ]

  private static let changing: [Command] = [
    Command(
      "type", "t ctrl-t", in: .overlay(.fields), "choose the type, or a server-computed value", hint: "type", 4,
      change: { $0.chooseType() }),
    Command(
      "add", "a", in: .overlay(.fields), "add a field, or an element", hint: "add", 5, change: { $0.nameField() }),
    Command(
      "remove", "x d delete", in: .overlay(.fields), "delete the field or element", hint: "delete", 6,
      change: { $0.removeEdited() }),
    Command(
      "switch", "space", in: .overlay(.fields), "true or false; fold or unfold", change: { $0.switchEdited() }),
    Command(
      "revert", "u", in: .overlay(.fields), "undo the change", hint: "revert", 8, change: { $0.revertEdited() }),
    Command(
      "edit", "ctrl-o e", in: .overlay(.fields), "edit the whole document in $EDITOR", hint: "$EDITOR", 7,
      writes: true, unless: { $0.reasonAgainstTextEditor }, run: { $0.editAsText() }),
  ]

  private static let naming: [Command] = [
    Command(
      "accept", "enter tab", in: .overlay(.fieldName), "continue to its value", hint: "go on", 1,
      change: { $0.acceptFieldName() }),
    Command("cancel", "esc", in: .overlay(.fieldName), "back", hint: "back", 2, run: { $0.cancel() }),
  ]

  private static let typing: [Command] = [
    Command(
      "accept", "enter", in: .overlay(.fieldValue), "accept the value, and go to the next row", hint: "take", 1,
      change: { $0.acceptFieldValueAndGoOn() }),
    Command("cancel", "esc", in: .overlay(.fieldValue), "back, no change", hint: "back", 2, run: { $0.cancel() }),
    Command(
      "type", "ctrl-t", in: .overlay(.fieldValue), "choose the type, or a server-computed value", hint: "type", 3,
      change: { $0.chooseType() }),
    Command("next-type", "ctrl-n", in: .overlay(.fieldValue), "the next type", change: { $0.cycleType(by: 1) }),
    Command(
      "previous-type", "ctrl-p", in: .overlay(.fieldValue), "the previous type", change: { $0.cycleType(by: -1) }),
    Command(
      "down", "down", in: .overlay(.fieldValue), "the next line of a long text, or the next type",
      change: { $0.moveInValue(by: 1) }),
    Command(
      "up", "up", in: .overlay(.fieldValue), "the previous line of a long text, or the previous type",
      change: { $0.moveInValue(by: -1) }),
    Command(
      "next-field", "tab", in: .overlay(.fieldValue), "accept the value, and edit the next field", hint: "next", 4,
      change: { $0.typeNextField(by: 1) }),
    Command(
      "previous-field", "shift-tab", in: .overlay(.fieldValue), "accept the value, and edit the previous field",
      change: { $0.typeNextField(by: -1) }),
    Command(
      "line-break", "ctrl-j alt-enter", in: .overlay(.fieldValue), "a line break in the text", hint: "line break", 6,
      change: { $0.breakLine() }),
    Command(
      "review", "ctrl-s", in: .overlay(.fieldValue), "accept the value, and review the write", hint: "review", 5,
      change: { $0.reviewEdit() }),
  ]

  private static let choosing: [Command] = [
    Command(
      "accept", "enter", in: .overlay(.fieldType), "accept the type", hint: "take", 1, change: { $0.acceptType() }),
    Command("cancel", "esc q", in: .overlay(.fieldType), "back", hint: "back", 2, run: { $0.cancel() }),
    Command("down", "down ctrl-n", in: .overlay(.fieldType), "down", hint: "down", 4, run: { $0.moveInEditor(by: 1) }),
    Command("up", "up ctrl-p", in: .overlay(.fieldType), "up", hint: "up", 3, run: { $0.moveInEditor(by: -1) }),
  ]

  private static let reviewing: [Command] = [
    Command(
      "accept", "enter", in: .overlay(.review), "send it", hint: "send", 1, writes: true,
      unless: { $0.reasonAgainstSending }, run: { $0.sendEdit() }),
    Command("cancel", "esc q", in: .overlay(.review), "back to the fields", hint: "back", 2, run: { $0.cancel() }),
    Command(
      "whole", "w", in: .overlay(.review), "write the whole document (set), or only the changes (update)",
      hint: "set or update", 4, unless: { $0.overlay?.fieldEditor?.isNew == true ? "a new document needs set" : nil },
      change: { $0.toggleReplacing() }),
    Command("down", "j down ctrl-n", in: .overlay(.review), "down", run: { $0.moveInEditor(by: 1) }),
    Command("up", "k up ctrl-p", in: .overlay(.review), "up", run: { $0.moveInEditor(by: -1) }),
    Command(
      "copy", "y", in: .overlay(.review), "copy the write as JSON", hint: "copy", 3, run: { $0.copyReviewed() }),
  ]
}
