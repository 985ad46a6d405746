// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery

extension DashboardState {
  /// `esc`: closes the overlay and undoes what it previewed.
  mutating func cancel() -> [Effect] {
    guard let open = overlay else { return [] }
    overlay = nil
    switch open {
    case .list(let list):
      switch list.content {
      case .themes(let original): return show(theme: original)
      case .explanation(let panel): overlay = panel.editor.map { .listener($0) }
      case .help, .palette, .copyMenu, .newMenu, .messages, .faults: break
      }
    case .filter(let line): return dropFilter(of: line.pane)
    case .listener, .confirm: break
    }
    return []
  }

  /// The selected answer to a question.
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

  mutating func acceptListener() -> [Effect] {
    guard let editor = overlay?.editor, let query = validQuery(of: editor) else { return [] }
    overlay = nil
    let name = editor.name.isEmpty ? ListenerRecord.defaultName(for: query) : editor.name.text
    return listen(to: query, name: name, editor.options)
  }

  mutating func copySwift() -> [Effect] {
    guard let editor = overlay?.editor, let query = validQuery(of: editor) else { return [] }
    return [.terminal(.copy(SwiftCode.lines(for: query).joined(separator: "\n")))]
  }

  /// The query as it stands in the editor; of text that is none, the reason is said.
  mutating func validQuery(of editor: ListenerEditor) -> Query? {
    do throws(ListenerEditorError) { return try editor.query(in: configuration.database) } catch {
      toast(.warning, error.reason)
      return nil
    }
  }
}
