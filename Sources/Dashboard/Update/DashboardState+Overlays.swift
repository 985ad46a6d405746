// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery

extension DashboardState {
  mutating func performInOverlay(_ command: Command) -> [Effect] {
    switch command {
    case .accept, .open: return accept()
    case .cancel, .back, .quit: return cancel()
    case .down: return moveOverlay(by: 1)
    case .up: return moveOverlay(by: -1)
    case .pageDown: return moveOverlay(by: 10)
    case .pageUp: return moveOverlay(by: -10)
    case .nextField, .previousField: moveField(by: command == .nextField ? 1 : -1)
    case .toggleOption, .removeClause:
      guard case .listener(var editor)? = overlay else { return [] }
      command == .toggleOption ? editor.toggle() : editor.removeClause()
      overlay = .listener(editor)
    case .explain: return explainEdited()
    case .copySwift:
      guard case .listener(let editor)? = overlay else { return [] }
      do throws(ListenerEditorError) {
        return [
          .terminal(.copy(SwiftCode.lines(for: try editor.query(in: configuration.database)).joined(separator: "\n")))
        ]
      } catch { toast(.warning, error.reason) }
    default: break
    }
    return []
  }

  mutating func moveOverlay(by step: Int) -> [Effect] {
    switch overlay {
    case .help(var list):
      list.cursor.move(by: step, in: Array(list.bindings.indices))
      overlay = .help(list)
    case .palette(var palette):
      palette.cursor.move(by: step, in: Array(palette.items.indices))
      overlay = .palette(palette)
    case .themes(var picker):
      picker.cursor.move(by: step, in: Array(configuration.themes.indices))
      overlay = .themes(picker)
      return preview(picker)
    case .copyMenu(var menu):
      menu.cursor.move(by: step, in: Array(menu.items.indices))
      overlay = .copyMenu(menu)
    case .newMenu(var menu):
      menu.cursor.move(by: step, in: Array(menu.items.indices))
      overlay = .newMenu(menu)
    case .messages(var cursor):
      cursor.move(by: step, in: Array(messages.indices))
      overlay = .messages(cursor)
    case .faults(var menu):
      menu.cursor.move(by: step, in: Array(FaultMenu.Item.allCases.indices))
      overlay = .faults(menu)
    case .explanation(var panel):
      panel.cursor.move(by: step, in: Array(ExplanationPanel.Item.allCases.indices))
      overlay = .explanation(panel)
    case .filter, .listener, .confirm, nil: break
    }
    return []
  }

  private mutating func moveField(by step: Int) {
    switch overlay {
    case .listener(var editor):
      editor.move(by: step)
      overlay = .listener(editor)
    case .confirm(var confirmation):
      confirmation.isActionSelected.toggle()
      overlay = .confirm(confirmation)
    default: break
    }
  }

  // MARK: Accepting

  private mutating func accept() -> [Effect] {
    guard let open = overlay else { return [] }
    switch open {
    case .help(let list):
      let bindings = list.bindings
      overlay = nil
      return bindings.indices.contains(list.cursor.index) ? perform(bindings[list.cursor.index].command) : []
    case .palette(let palette):
      let items = palette.items
      overlay = nil
      return items.indices.contains(palette.cursor.index) ? run(items[palette.cursor.index].target) : []
    case .filter(let line): return acceptFilter(line)
    case .listener(let editor): return accept(editor)
    case .themes, .messages:
      overlay = nil
      return []
    case .explanation(let panel): return choose(ExplanationPanel.Item.allCases[panel.cursor.index], in: panel)
    case .faults(let menu): return choose(FaultMenu.Item.allCases[menu.cursor.index])
    case .copyMenu(let menu), .newMenu(let menu):
      return menu.items.indices.contains(menu.cursor.index) ? choose(menu.items[menu.cursor.index]) : cancel()
    case .confirm(let confirmation):
      guard confirmation.isActionSelected else { return cancel() }
      guard confirmation.isAllowed else {
        toast(.warning, "type \(confirmation.required ?? "") first")
        return []
      }
      overlay = nil
      return carryOut(confirmation.subject)
    }
  }

  private mutating func accept(_ editor: ListenerEditor) -> [Effect] {
    do throws(ListenerEditorError) {
      let query = try editor.query(in: configuration.database)
      overlay = nil
      let name = editor.name.isEmpty ? ListenerRecord.defaultName(for: query) : editor.name.text
      return listen(to: query, name: name, editor.settings)
    } catch {
      toast(.warning, error.reason)
      return []
    }
  }

  private mutating func run(_ target: Palette.Item.Target) -> [Effect] {
    switch target {
    case .command(let command): return perform(command)
    case .theme(let slug):
      theme = slug
      return [.terminal(.setTheme(slug))]
    case .collection(let path): return openCollection(path)
    case .document(let key): return openDetail(key)
    case .stopListener(let tag): return stopListening(tag)
    case .row(let row): return jump(row: row)
    case .percent(let percent): return jump(percent: percent)
    }
  }

  mutating func choose(_ item: Menu.Item) -> [Effect] {
    overlay = nil
    switch item.choice {
    case .copy(let text):
      return [.terminal(.copy(text))]
    case .newDocument(let path):
      return [.terminal(.edit(EditRequest(.newDocument(in: ResourcePath(path)), text: "{\n  \n}\n")))]
    case .newListener:
      openListenerEditor(from: selectedCollection?.text ?? "")
      return []
    }
  }

  private mutating func cancel() -> [Effect] {
    guard let open = overlay else { return [] }
    overlay = nil
    switch open {
    case .themes(let picker):
      guard theme != picker.original else { return [] }
      theme = picker.original
      return [.terminal(.setTheme(picker.original))]
    case .explanation(let panel):
      overlay = panel.editor.map { .listener($0) }
      return []
    case .filter(let line):
      if line.pane == .feed { feed.filter = WordFilter("") }
      if line.pane == .writes { writes.filter = WordFilter("") }
      if line.pane == .detail { detail?.search = WordFilter("") }
      if line.pane == .collections, let path = filteredCollection { return clearFilter(of: path) }
      return []
    default: return []
    }
  }

  // MARK: Themes

  mutating func openThemes() {
    var picker = ThemePicker(original: theme)
    if let index = configuration.themes.firstIndex(where: { $0.slug == theme }) {
      picker.cursor.select(index: index, in: Array(configuration.themes.indices))
    }
    overlay = .themes(picker)
  }

  private mutating func preview(_ picker: ThemePicker) -> [Effect] {
    guard configuration.themes.indices.contains(picker.cursor.index) else { return [] }
    let slug = configuration.themes[picker.cursor.index].slug
    guard slug != theme else { return [] }
    theme = slug
    return [.terminal(.setTheme(slug))]
  }
}
