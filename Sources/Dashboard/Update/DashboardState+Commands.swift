// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import TerminalCanvas

extension DashboardState {
  /// Runs a command in the open overlay or on the screen. One that is impossible now says why instead.
  mutating func perform(_ command: Command) -> [Effect] {
    switch command {
    case .interrupt: return interrupt()
    case .redraw: return [.terminal(.redraw)]
    case .suspend: return [.terminal(.suspend)]
    default: break
    }
    if overlay != nil { return performInOverlay(command) }
    if let reason = reasonDisabled(command) {
      toast(.info, reason)
      return []
    }
    if let step = step(of: command) { return move(by: step, in: focus) }
    return performOnScreen(command)
  }

  private mutating func performOnScreen(_ command: Command) -> [Effect] {
    switch command {
    case .top: return moveToEnd(isTop: true)
    case .bottom: return moveToEnd(isTop: false)
    case .focusCollections: focusPane(.collections)
    case .focusWrites: focusPane(.writes)
    case .focusNetwork: focusPane(.network)
    case .focusFeed: focusPane(.feed)
    case .focusDetail:
      return detail == nil
        ? openSelected()
        : {
          focusPane(.detail)
          return []
        }()
    case .nextPane: cycleFocus(by: 1)
    case .previousPane: cycleFocus(by: -1)
    case .nextTab: cycleTab(by: 1)
    case .previousTab: cycleTab(by: -1)
    case .zoom: isZoomed = true
    case .unzoom: isZoomed = false
    case .nextLayout: preset = LayoutPreset(rawValue: (preset.rawValue + 1) % LayoutPreset.allCases.count) ?? .balanced
    case .open: return openSelected()
    case .back: return goBack()
    case .quit: return goBackOrQuit()
    case .quitNow: return [.terminal(.quit(code: 0))]
    case .toggleNetwork: return [.client(.setNetwork(enabled: !network.isNetworkEnabled))]
    case .togglePause: feed.isPaused ? feed.follow() : pauseFeed()
    case .follow: feed.follow()
    case .filter: openFilter()
    case .palette: overlay = .palette(Palette(paletteItems()))
    case .help: overlay = .help(HelpList(contexts: screenContexts))
    case .copy: openCopyMenu()
    case .setBookmark: bookmarkVerb = .set
    case .goToBookmark: bookmarkVerb = .go
    case .undo: return [.client(.undo)]
    case .themes: openThemes()
    case .toggleMouse:
      isMouseOn.toggle()
      toast(.info, isMouseOn ? "mouse on" : "mouse off: the terminal selects text again")
      return [.terminal(.setMouse(isMouseOn))]
    case .faults: overlay = .faults(FaultMenu())
    case .explain: return explainSelected()
    case .messages: overlay = .messages(Cursor())
    default: return performInPane(command)
    }
    return []
  }

  private mutating func performInPane(_ command: Command) -> [Effect] {
    switch command {
    case .fold: return fold()
    case .unfold: return unfold()
    case .foldAll: return foldAll()
    case .unfoldAll: return unfoldAll()
    case .toggleListener: return toggleListener()
    case .filterLikeThis: return filterLikeThis()
    case .new: return openNew()
    case .edit: return edit()
    case .delete: askToDelete()
    case .mark:
      guard let id = writes.selected?.batch else { return [] }
      if writes.marked.remove(id) == nil { writes.marked.insert(id) }
      writes.cursor.move(by: 1, in: writes.rows.map(\.batch))
    case .cancelWrite: askToCancelWrites()
    case .retryNow: return sendNow()
    case .dropRejected: askToDropAllRejected()
    case .onlyListener:
      feed.onlyListener = feed.onlyListener == nil ? feed.selected?.listener : nil
      feed.follow()
    case .onlyDocument:
      feed.onlyDocument = feed.onlyDocument == nil ? feed.selected?.key : nil
      feed.follow()
    case .timeFormat: feed.showsDeltas.toggle()
    case .clearFeed: feed.clear()
    case .nextMatch: moveToMatch(.next)
    case .previousMatch: moveToMatch(.previous)
    case .wrap: detail?.wraps.toggle()
    case .olderVersion: detail?.versionsBack += 1
    case .newerVersion: detail.map { detail?.versionsBack = max(0, $0.versionsBack - 1) }
    default: break
    }
    return []
  }

  // MARK: Leaving

  private mutating func interrupt() -> [Effect] {
    if overlay != nil { return perform(.cancel) }
    if let last = lastInterrupt, now.milliseconds(since: last) <= 1000 { return [.terminal(.quit(code: 130))] }
    lastInterrupt = now
    toast(.info, "ctrl-c again quits")
    return []
  }

  private mutating func goBack() -> [Effect] {
    if isZoomed {
      isZoomed = false
      return []
    }
    if focus == .detail, let key = detail?.key {
      detail = nil
      focus = .collections
      return [.client(.closeDetail(key))]
    }
    if focus == .writes, !writes.filter.isEmpty {
      writes.filter = WordFilter("")
      return []
    }
    if let path = filteredCollection, focus == .collections { return clearFilter(of: path) }
    if focus == .feed, feed.onlyListener != nil || feed.onlyDocument != nil || !feed.filter.isEmpty {
      feed.onlyListener = nil
      feed.onlyDocument = nil
      feed.filter = WordFilter("")
    } else if focus == .feed, feed.isPaused {
      feed.follow()
    } else if let key = detail?.key {
      detail = nil
      return [.client(.closeDetail(key))]
    }
    return []
  }

  private mutating func goBackOrQuit() -> [Effect] {
    if focus == .detail || isZoomed { return goBack() }
    let count = writes.waiting + writes.rejected.count
    guard network.isCacheInMemory, count > 0 else { return [.terminal(.quit(code: 0))] }
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

  private mutating func cycleFocus(by step: Int) {
    let all = visiblePanes
    let index = all.firstIndex(of: focus) ?? 0
    focus = all[((index + step) % all.count + all.count) % all.count]
  }

  /// The panes that `tab` visits: those on the screen, or all where only one is shown at a time.
  var visiblePanes: [Pane] {
    let layout = layout(size)
    let order: [Pane] = [.collections, .writes, .network, .detail, .feed]
    if layout.layoutClass.isTiled, !isZoomed { return order.filter { layout.panes[$0] != nil } }
    return order.filter { $0 != .detail || detail != nil }
  }

  private mutating func cycleTab(by step: Int) {
    guard let tab = detail?.tab else { return }
    let count = Detail.Tab.allCases.count
    detail?.tab = Detail.Tab(rawValue: (tab.rawValue + step + count) % count) ?? .data
    detail?.cursor = Cursor()
    focus = .detail
  }
}
