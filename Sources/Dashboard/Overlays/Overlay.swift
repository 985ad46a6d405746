// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// What lies over the panes and takes the keys. At most one at a time; `esc` always closes it.
package enum Overlay: Sendable {
  package enum Kind: CaseIterable, Hashable, Sendable {
    case help, palette, filter, listener, themes, confirm, copyMenu, newMenu, messages, faults, explanation

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
      }
    }
  }

  case help(HelpList)
  case palette(Palette)
  case filter(FilterLine)
  case listener(ListenerEditor)
  case themes(ThemePicker)
  case confirm(Confirmation)
  case copyMenu(Menu)
  case newMenu(Menu)
  case messages(Cursor<Int>)
  case faults(FaultMenu)
  case explanation(ExplanationPanel)

  package var kind: Kind {
    switch self {
    case .help: .help
    case .palette: .palette
    case .filter: .filter
    case .listener: .listener
    case .themes: .themes
    case .confirm: .confirm
    case .copyMenu: .copyMenu
    case .newMenu: .newMenu
    case .messages: .messages
    case .faults: .faults
    case .explanation: .explanation
    }
  }

  /// The line that swallows printable keys; `nil` for overlays without one.
  var field: TextField? {
    get {
      switch self {
      case .help(let list): list.field
      case .palette(let palette): palette.field
      case .filter(let line): line.field
      case .listener(let editor): editor.focusedField
      case .confirm(let confirmation): confirmation.typed
      case .themes, .copyMenu, .newMenu, .messages, .faults, .explanation: nil
      }
    }
    set {
      guard let newValue else { return }
      switch self {
      case .help(var list):
        list.field = newValue
        self = .help(list)
      case .palette(var palette):
        palette.field = newValue
        self = .palette(palette)
      case .filter(var line):
        line.field = newValue
        self = .filter(line)
      case .listener(var editor):
        editor.focusedField = newValue
        self = .listener(editor)
      case .confirm(var confirmation):
        confirmation.typed = newValue
        self = .confirm(confirmation)
      case .themes, .copyMenu, .newMenu, .messages, .faults, .explanation: break
      }
    }
  }
}

/// The `/` line of a pane.
package struct FilterLine: Sendable {
  var pane: Pane
  var field: TextField
  /// Why the text is no filter.
  var error: String?
}

/// A short list of choices, each with a letter.
package struct Menu: Sendable {
  struct Item: Hashable, Sendable {
    var letter: Character
    var title: String
    /// What it would do or yield; shown muted.
    var detail: String
    var choice: Choice
  }

  enum Choice: Hashable, Sendable {
    case copy(String)
    case newDocument(String)
    case newListener
  }

  var items: [Item]
  var cursor = Cursor<Int>()
}

/// Themes with live preview.
package struct ThemePicker: Sendable {
  /// What `esc` goes back to.
  var original: String
  var cursor = Cursor<Int>()
}

/// A question whose safe answer is selected.
package struct Confirmation: Sendable {
  enum Subject: Hashable, Sendable {
    case delete([DocumentTarget])
    /// Waiting batches to cancel, and rejected ones to drop.
    case takeBack([BatchID], [BatchID])
    case quit
    case editAgain(EditRequest)
  }

  /// A document, or a field of it.
  struct DocumentTarget: Hashable, Sendable {
    var path: String
    var field: String?
  }

  var title: String
  var body: [String]
  var action: String
  var subject: Subject
  var isActionSelected = false
  /// The text that must be typed before the action may run, for data that cannot be had back.
  var required: String?
  var typed: TextField?

  var isAllowed: Bool { required.map { $0.equalsUTF8(typed?.text ?? "") } ?? true }
}
