// SPDX-License-Identifier: Apache-2.0
package import DashboardModel
package import FirestoreModel
package import TerminalCanvas

/// The dialog or input line over the panes that receives the keys. At most one is open. `esc` always closes it.
package indirect enum Overlay: Sendable {
  package enum Kind: CaseIterable, Hashable, Sendable {
    case help, palette, filter, listener, themes, confirm, copyMenu, newMenu, messages, faults, explanation, columns
    case decision, fields, fieldName, fieldValue, fieldType, review, listeners, request, inside, wall, prompt

    package var title: String {
      switch self {
      case .help: "Help"
      case .palette: "Command palette"
      case .filter: "Filter line"
      case .listener: "Listener editor"
      case .themes: "Themes"
      case .confirm: "Question"
      case .copyMenu: "Copy"
      case .newMenu: "New"
      case .messages: "Messages"
      case .faults: "Faults"
      case .explanation: "Explanation"
      case .columns: "Columns"
      case .decision: "Decision"
      case .fields: "Field editor"
      case .fieldName: "Field name"
      case .fieldValue: "Field value"
      case .fieldType: "Field type"
      case .review: "Review of an edit"
      case .listeners: "Listeners"
      case .request: "Request"
      case .wall: "Wall"
      case .prompt: "Line to type"
      case .inside: "Inside"
      }
    }
  }

  case list(ListOverlay)
  case filter(FilterLine)
  case listener(ListenerEditor)
  case confirm(Confirmation)
  case fields(FieldEditor)
  case prompt(Prompt)

  package var kind: Kind {
    switch self {
    case .list(let list): list.kind
    case .filter: .filter
    case .listener: .listener
    case .confirm: .confirm
    case .fields(let editor): editor.kind
    case .prompt: .prompt
    }
  }

  // The value of the open overlay by its type, for changes in place; `nil` if another is open. Setting `nil` changes
  // nothing.

  var list: ListOverlay? {
    get { if case .list(let list) = self { list } else { nil } }
    set { if let newValue { self = .list(newValue) } }
  }

  var filterLine: FilterLine? {
    get { if case .filter(let line) = self { line } else { nil } }
    set { if let newValue { self = .filter(newValue) } }
  }

  var editor: ListenerEditor? {
    get { if case .listener(let editor) = self { editor } else { nil } }
    set { if let newValue { self = .listener(newValue) } }
  }

  var confirmation: Confirmation? {
    get { if case .confirm(let confirmation) = self { confirmation } else { nil } }
    set { if let newValue { self = .confirm(newValue) } }
  }

  var fieldEditor: FieldEditor? {
    get { if case .fields(let editor) = self { editor } else { nil } }
    set { if let newValue { self = .fields(newValue) } }
  }

  var prompt: Prompt? {
    get { if case .prompt(let prompt) = self { prompt } else { nil } }
    set { if let newValue { self = .prompt(newValue) } }
  }

  /// The text field that receives printable keys; `nil` for overlays without one.
  var field: TextField? {
    get {
      list?.field ?? filterLine?.field ?? editor?.focusedField ?? confirmation?.typed ?? fieldEditor?.field
        ?? prompt?.field
    }
    set {
      guard let newValue else { return }
      switch self {
      case .list: list?.field = newValue
      case .filter: filterLine?.field = newValue
      case .listener: editor?.focusedField = newValue
      case .confirm: confirmation?.typed = newValue
      case .fields: fieldEditor?.field = newValue
      case .prompt:
        prompt?.field = newValue
        prompt?.error = nil
      }
    }
  }
}

/// The line below a pane in which you type a filter after `/`.
package struct FilterLine: Sendable {
  package var pane: Pane
  package var field: TextField
  /// The collection that is filtered, if any.
  package var path: ResourcePath?
  /// The reason why the filter is invalid.
  package var error: String?
}

/// A question to the user. The safe answer is selected initially.
package struct Confirmation: Sendable {
  enum Subject: Equatable, Sendable {
    case delete(DocumentTarget)
    /// Documents to delete in one batch.
    case deleteAll([DocumentKey])
    /// Pending batches to cancel, and rejected batches to drop.
    case takeBack([BatchID], [BatchID])
    case quit
    /// A field editor to close. Closing it discards its unsent edits.
    case dropEdits
    case editAgain(EditRequest)
    case perform([Effect])
  }

  /// A document, or a field of it.
  struct DocumentTarget: Hashable, Sendable {
    var key: DocumentKey
    var field: String?
  }

  package var title: String
  var body: [String]
  var action: String
  var subject: Subject
  package var isActionSelected = false
  /// The text that the user must type before an action on data that cannot be restored.
  var required: String?
  package var typed: TextField?

  package var isAllowed: Bool { required.map { $0.equalsUTF8(typed?.text ?? "") } ?? true }
}

/// The geometry of a question, used for drawing and for mouse events.
package struct ConfirmGeometry {
  package let dialog: Dialog
  /// The question's text, wrapped to the width.
  package let lines: [String]
  /// The count of rows other than the text.
  package let fixedRows: Int
  package let cancel: String
  package let action: String
  package let answerRow: Int

  package init(_ question: Confirmation, _ layout: Layout, _ glyphs: Glyphs) {
    let widest = question.body.map { SafeText.columns(of: $0) }.max() ?? 0
    let width = max(40, min(widest + 4, layout.size.width * 3 / 4))
    lines = question.body.flatMap {
      WrappedText.lines($0, width: max(8, min(width, layout.size.width - 2) - 4), glyphs.ellipsis)
    }
    let typedRows = question.typed == nil ? 0 : 1
    dialog = Dialog(layout, width: width, rows: lines.count + typedRows + 2)
    fixedRows = typedRows + 1
    let area = dialog.content
    let shown = min(lines.count, max(0, area.height - fixedRows)) + typedRows
    answerRow = min(area.y + shown + 1, area.maxY - 1)
    cancel = question.isActionSelected ? "  Cancel  " : "[ Cancel ]"
    action = question.isActionSelected ? "[ \(question.action) ]" : "  \(question.action)  "
  }

  /// Whether the point is on the button that performs the action. Returns `nil` if the point is on neither button.
  func isAction(at point: Point) -> Bool? {
    guard point.y == answerRow else { return nil }
    let column = point.x - dialog.content.x
    let first = SafeText.columns(of: cancel)
    if 0..<first ~= column { return false }
    return first + 2..<first + 2 + SafeText.columns(of: action) ~= column ? true : nil
  }
}
