// SPDX-License-Identifier: Apache-2.0
import TerminalCanvas

/// The one transition of the dashboard: applies what happened and returns what has to be done about it. Pure and total.
package func update(_ state: inout DashboardState, _ action: Action) -> [Effect] {
  let effects: [Effect]
  switch action {
  case .tick(let time):
    state.age(to: time)
    state.clock = state.now
    effects = state.browser.takeDueCounts(at: state.now, isOffline: state.network.isOffline)
  case .client(let event, let time):
    state.age(to: time)
    state.clock = state.now
    effects = state.receive(event)
  case .input(let event, let time):
    state.age(to: time)
    effects = state.handle(event)
  case .command(let command, let time):
    state.age(to: time)
    effects = state.perform(command)
  }
  state.settle()
  return effects
}

extension DashboardState {
  /// Brings every cursor back into its list and its list back onto the screen.
  mutating func settle() {
    if focus == .detail, detail == nil { focus = .collections }
    let layout = layout(size)
    browser.cursor.settle(in: browser.rows.map(\.item), height: listHeight(of: .collections, layout))
    writes.cursor.settle(in: writes.rows.map(\.batch), height: listHeight(of: .writes, layout))
    if feed.isPaused { feed.cursor.settle(in: Array(feed.shown), height: listHeight(of: .feed, layout)) }
    if let ids = detail.map({ DetailContent.lines(of: $0, in: self).map(\.id) }) {
      let height = listHeight(of: .detail, layout)
      detail?.cursor.settle(in: ids, height: height)
    }
    settleOverlay(height: max(1, size.height - 6))
  }

  private mutating func settleOverlay(height: Int) {
    switch overlay {
    case .help(var list):
      list.cursor.settle(in: Array(list.bindings.indices), height: height)
      overlay = .help(list)
    case .palette(var palette):
      palette.cursor.settle(in: Array(palette.items.indices), height: min(height, 12))
      overlay = .palette(palette)
    case .themes(var picker):
      picker.cursor.settle(in: Array(configuration.themes.indices), height: height)
      overlay = .themes(picker)
    case .copyMenu(var menu):
      menu.cursor.settle(in: Array(menu.items.indices), height: height)
      overlay = .copyMenu(menu)
    case .newMenu(var menu):
      menu.cursor.settle(in: Array(menu.items.indices), height: height)
      overlay = .newMenu(menu)
    case .messages(var cursor):
      cursor.settle(in: Array(messages.indices), height: height)
      overlay = .messages(cursor)
    case .explanation(var panel):
      panel.cursor.settle(in: Array(ExplanationPanel.Item.allCases.indices), height: height)
      overlay = .explanation(panel)
    case .faults(var menu):
      menu.cursor.settle(in: Array(FaultMenu.Item.allCases.indices), height: height)
      overlay = .faults(menu)
    case .filter, .listener, .confirm, nil: break
    }
  }

  mutating func toast(_ kind: Toast.Kind, _ text: String) {
    let toast = Toast(kind, text, shownAt: now)
    toasts.append(toast)
    if toasts.count > 3 { toasts.removeFirst() }
    messages.append(toast)
    if messages.count > 200 { messages.removeFirst() }
  }

  /// Where keys are looked up while no overlay is open.
  var screenContexts: [KeyContext] { [.pane(focus), .screen, .always] }

  var contexts: [KeyContext] { overlay.map { [.overlay($0.kind), .always] } ?? screenContexts }
}
