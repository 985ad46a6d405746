// SPDX-License-Identifier: Apache-2.0
import DashboardModel

/// The commands of the field editor, in each of its steps.
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
      "review", "ctrl-s s", in: .overlay(.fields), "see the write that it comes to, and send it", hint: "review", 2,
      change: { $0.reviewEdit() }),
    Command("cancel", "esc q", in: .overlay(.fields), "leave the editor", hint: "leave", 3, run: { $0.cancel() }),
    Command(
      "next-field", "tab", in: .overlay(.fields), "edit the next field", change: { $0.typeNextField(by: 1) }),
    Command(
      "previous-field", "shift-tab", in: .overlay(.fields), "edit the field before",
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
      "type", "t ctrl-t", in: .overlay(.fields), "choose the type, or what the server is to compute", hint: "type", 4,
      change: { $0.chooseType() }),
    Command(
      "add", "a", in: .overlay(.fields), "add a field, or an element", hint: "add", 5, change: { $0.nameField() }),
    Command(
      "remove", "x d delete", in: .overlay(.fields), "delete the field or element", hint: "delete", 6,
      change: { $0.removeEdited() }),
    Command(
      "switch", "space", in: .overlay(.fields), "true or false; fold or unfold", change: { $0.switchEdited() }),
    Command(
      "revert", "u", in: .overlay(.fields), "as it was before", hint: "revert", 8, change: { $0.revertEdited() }),
    Command(
      "edit", "e", in: .overlay(.fields), "go on with the whole document in $EDITOR", hint: "$EDITOR", 7,
      writes: true, unless: { $0.reasonAgainstTextEditor }, run: { $0.editAsText() }),
  ]

  private static let naming: [Command] = [
    Command(
      "accept", "enter tab", in: .overlay(.fieldName), "go on to its value", hint: "go on", 1,
      change: { $0.acceptFieldName() }),
    Command("cancel", "esc", in: .overlay(.fieldName), "back", hint: "back", 2, run: { $0.cancel() }),
  ]

  private static let typing: [Command] = [
    Command(
      "accept", "enter", in: .overlay(.fieldValue), "take the value, and go on to the next row", hint: "take", 1,
      change: { $0.acceptFieldValueAndGoOn() }),
    Command("cancel", "esc", in: .overlay(.fieldValue), "back, without it", hint: "back", 2, run: { $0.cancel() }),
    Command(
      "type", "ctrl-t", in: .overlay(.fieldValue), "choose the type, or what the server is to compute", hint: "type", 3,
      change: { $0.chooseType() }),
    Command("next-type", "ctrl-n", in: .overlay(.fieldValue), "the next type", change: { $0.cycleType(by: 1) }),
    Command(
      "previous-type", "ctrl-p", in: .overlay(.fieldValue), "the type before", change: { $0.cycleType(by: -1) }),
    Command(
      "down", "down", in: .overlay(.fieldValue), "the next line of the text; the next type of a short one",
      change: { $0.moveInValue(by: 1) }),
    Command(
      "up", "up", in: .overlay(.fieldValue), "the line before; the type before of a short text",
      change: { $0.moveInValue(by: -1) }),
    Command(
      "next-field", "tab", in: .overlay(.fieldValue), "take it, and edit the next field", hint: "next", 4,
      change: { $0.typeNextField(by: 1) }),
    Command(
      "previous-field", "shift-tab", in: .overlay(.fieldValue), "take it, and edit the field before",
      change: { $0.typeNextField(by: -1) }),
    Command(
      "line-break", "ctrl-j alt-enter", in: .overlay(.fieldValue), "a line break in the text", hint: "line break", 6,
      change: { $0.breakLine() }),
    Command(
      "review", "ctrl-s", in: .overlay(.fieldValue), "take it, and see the write that it comes to", hint: "review", 5,
      change: { $0.reviewEdit() }),
  ]

  private static let choosing: [Command] = [
    Command(
      "accept", "enter", in: .overlay(.fieldType), "take the type", hint: "take", 1, change: { $0.acceptType() }),
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
      "whole", "w", in: .overlay(.review), "write the whole document (set), or only what was changed (update)",
      hint: "set or update", 4, unless: { $0.overlay?.fieldEditor?.isNew == true ? "a new document is set" : nil },
      change: { $0.toggleReplacing() }),
    Command("down", "j down ctrl-n", in: .overlay(.review), "down", run: { $0.moveInEditor(by: 1) }),
    Command("up", "k up ctrl-p", in: .overlay(.review), "up", run: { $0.moveInEditor(by: -1) }),
    Command(
      "copy", "y", in: .overlay(.review), "copy the write as JSON", hint: "copy", 3, run: { $0.copyReviewed() }),
  ]
}
