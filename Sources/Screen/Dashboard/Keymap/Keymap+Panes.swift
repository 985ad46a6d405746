// SPDX-License-Identifier: Apache-2.0
import ClientPort
import DashboardModel

/// The commands of the panes.
extension Keymap {
  static let panes: [Command] = collections + writes + network + feed + feedTabs + requests + newListener + detail

  private static let collections: [Command] = [
    Command(
      "listen", "space", in: .pane(.collections), "listen to the collection or document, or stop",
      hint: Wording { $0.isListeningToSelection(in: .collections) ? "stop" : "listen" }, 1,
      unless: { $0.selectedCollection == nil ? "no collection is selected" : nil }, run: { $0.toggleListener() }),
    Command(
      "ask-again", "r", in: .pane(.collections), "run the shown query again", isListed: false,
      unless: { $0.reasonAgainstAsking }, run: { $0.askAgain() }),
    Command("new", "n", in: .pane(.collections), "new document or listener", hint: "new", 2, change: { $0.openNew() }),
    Command(
      "edit", "e", in: .pane(.collections), "edit the document in $EDITOR", writes: true,
      unless: { $0.reasonAgainstEditing },
      run: { $0.editDocument() }),
    editFields(in: .collections),
    Command(
      "delete", "d", in: .pane(.collections), "delete the document or field, or all of the range", writes: true,
      unless: { $0.reasonAgainstDeleting },
      change: { $0.askToDelete() }),
    Command(
      "fold", "h left", in: .pane(.collections), "fold, or go to the parent", isListed: false, run: { $0.fold() }),
    Command(
      "unfold", "l right", in: .pane(.collections), "unfold, or go inside", isListed: false, run: { $0.unfold() }),
    Command("fold-all", "-", in: .pane(.collections), "fold all", run: { $0.foldAll() }),
    Command(
      "sort", "s", in: .pane(.collections), "next order: id, columns, last changed, created", hint: "sort", 22,
      unless: { $0.reasonAgainstSorting }, run: { $0.chooseNextOrder() }),
    Command(
      "sort-direction", "S", in: .pane(.collections), "reverse the order",
      unless: { $0.reasonAgainstSorting }, run: { $0.reverseOrder() }),
    Command(
      "columns", "c", in: .pane(.collections), "choose the columns next to the documents", hint: "columns", 21,
      unless: { $0.reasonAgainstColumns }, change: { $0.openColumns() }),
    Command("unfold-all", "=", in: .pane(.collections), "unfold all collections", run: { $0.unfoldAll() }),
    Command(
      "filter-like-this", "*", in: .pane(.collections), "filter by the selected field's value",
      unless: { $0.reasonAgainstFilterLikeThis }, run: { $0.filterLikeThis() }),
  ]

  private static let writes: [Command] = [
    Command(
      "cancel-write", "x", in: .pane(.writes), "cancel a pending write, drop a rejected one",
      hint: Wording { $0.writes.hasChosenRejected ? "drop" : "cancel" }, 1,
      writes: true, unless: { $0.reasonAgainstCancelling }, change: { $0.askToCancelWrites() }),
    Command(
      "set-aside", "s", in: .pane(.writes), "set a pending write aside: keep it without sending it",
      hint: "set aside", 12, writes: true, unless: { $0.reasonAgainstSettingAside }, run: { $0.setWritesAside() }),
    Command(
      "mark", "space", in: .pane(.writes), "mark the write", hint: "mark", 2, unless: { $0.reasonAgainstMarking },
      change: { $0.markWrite() }),
    Command(
      "retry", "r", in: .pane(.writes), "send now without waiting for the retry; resend a rejected write",
      hint: Wording { $0.writes.hasChosenRejected ? "send again" : "retry now" }, 5,
      unless: { $0.writes.hasChosenRejected ? nil : $0.reasonAgainstRetrying }, run: { $0.sendNow() }),
    Command(
      "edit", "e", in: .pane(.writes), "edit a rejected write in $EDITOR and send it again", hint: "edit", 11,
      writes: true, unless: { $0.writes.selected?.isRejected == true ? nil : "only a rejected write can be edited" },
      run: { $0.editRejectedWrite() }),
    Command(
      "drop-rejected", "X", in: .pane(.writes), "drop all rejected writes", writes: true,
      unless: { $0.writes.rejected.isEmpty ? "no write was rejected" : nil },
      change: { $0.askToDropAllRejected() }),
  ]

  private static let network: [Command] = [
    Command(
      "toggle-network", "space", in: .pane(.network), "go offline or online",
      title: Wording { "go " + $0.otherNetworkState }, run: { $0.toggleNetwork() }),
    Command(
      "faults", "f", in: .pane(.network), "faults: latency, losses, rejections", hint: "faults", 5,
      change: { $0.openFaults() }),
    Command(
      "facts", "w", in: .pane(.network), "show or hide targets, resume token and bytes to the terminal",
      change: { $0.screen.toggleFacts() }),
    Command(
      "retry", "r", in: .pane(.network), "connect now, without waiting for the retry", hint: "retry now", 5,
      unless: { $0.reasonAgainstRetrying }, run: { $0.idleOutage == nil ? [.client(.retryNow)] : $0.listAgain() }),
  ]

  private static let feed: [Command] = [
    Command(
      "toggle-pause", "space", in: .pane(.feed), "pause or resume",
      title: Wording { $0.feed.isPaused ? "resume the feed" : "pause the feed" }, change: { $0.togglePause() }),
    Command("follow", "f", in: .pane(.feed), "follow the tail", change: { $0.feed.follow() }),
    Command(
      "only-listener", "L", in: .pane(.feed), "show only this listener, or all listeners",
      unless: { $0.feed.reasonAgainstOnlyListener }, change: { $0.feed.toggleOnlyListener() }),
    Command(
      "only-document", "D", in: .pane(.feed), "show only this document, or all documents",
      unless: { $0.feed.reasonAgainstOnlyDocument }, change: { $0.feed.toggleOnlyDocument() }),
    Command(
      "time-format", "t", in: .pane(.feed), "time of day, or time since the row above",
      change: { $0.feed.showsDeltas.toggle() }),
    Command(
      "way", "#", in: .pane(.feed), "the history of the row's write: each try, the answer, the listeners",
      unless: { $0.reasonAgainstWay }, change: { $0.openFeedWrite() }),
    Command(
      "wrap", "w", in: .pane(.feed), "show or hide the selected row in full below the feed",
      change: { $0.feed.isOpened.toggle() }),
    Command(
      "clear-feed", "c", in: .pane(.feed), "clear the feed",
      unless: { $0.feed.rows.isEmpty ? "the feed is empty" : nil }, change: { $0.feed.clear() }),
    Command(
      "edit", "e", in: .pane(.feed), "edit the document in $EDITOR", writes: true, unless: { $0.reasonAgainstEditing },
      run: { $0.editDocument() }),
    editFields(in: .feed),
  ]

  private static let newListener: [Command] = [Pane.writes, .network, .feed].map { pane in
    Command("new", "n", in: .pane(pane), "new listener", change: { $0.openListenerEditor(from: "") })
  }

  private static let detail: [Command] = [
    Command("next-tab", "]", in: .pane(.detail), "next tab", hint: "next tab", 1, change: { $0.cycleTab(by: 1) }),
    Command("previous-tab", "[", in: .pane(.detail), "previous tab", change: { $0.cycleTab(by: -1) }),
    Command(
      "fold", "h left", in: .pane(.detail), "fold, or go to the parent", isListed: false,
      change: { $0.foldDetail(isOpen: false) }),
    Command(
      "unfold", "l right", in: .pane(.detail), "unfold", isListed: false, change: { $0.foldDetail(isOpen: true) }),
    Command("fold-all", "-", in: .pane(.detail), "fold all", change: { $0.detail?.fold(.folded) }),
    Command("unfold-all", "=", in: .pane(.detail), "unfold all", change: { $0.detail?.fold(.open) }),
    Command(
      "next-match", "n", in: .pane(.detail), "next line that matches the search",
      unless: { $0.reasonAgainstMatching }, change: { $0.moveToMatch(.next) }),
    Command(
      "previous-match", "N", in: .pane(.detail), "previous line that matches", unless: { $0.reasonAgainstMatching },
      change: { $0.moveToMatch(.previous) }),
    Command("wrap", "w", in: .pane(.detail), "wrap long texts, or cut them", change: { $0.detail?.wraps.toggle() }),
    Command(
      "older-version", ",", in: .pane(.detail), "compare with an older version",
      change: { $0.stepVersion(by: -1) }),
    Command(
      "newer-version", ".", in: .pane(.detail), "compare with a newer version",
      change: { $0.stepVersion(by: 1) }),
    Command(
      "compare-from", "b", in: .pane(.detail), "compare with this version in Diff, or with the previous one again",
      unless: { $0.reasonAgainstMarkingVersion }, change: { $0.toggleBaseVersion() }),
    Command(
      "way", "#", in: .pane(.detail), "the history of the write that caused this version",
      unless: { $0.reasonAgainstVersionWay }, change: { $0.openVersionWrite() }),
    Command(
      "listen", "space", in: .pane(.detail), "listen to the document, or stop", run: { $0.toggleListener() }),
    Command(
      "edit", "e", in: .pane(.detail), "edit the document in $EDITOR", hint: "edit", 2,
      writes: true, unless: { $0.reasonAgainstEditing }, run: { $0.editDocument() }),
    editFields(in: .detail),
    Command(
      "add-field", "a", in: .pane(.detail), "add a field", hint: "add", 21, writes: true,
      unless: { $0.reasonAgainstEditing }, run: { $0.addField() }),
    Command(
      "remove-field", "x", in: .pane(.detail), "delete the selected field", writes: true,
      unless: { $0.reasonAgainstFilterLikeThis }, run: { $0.removeField() }),
    Command(
      "delete", "d", in: .pane(.detail), "delete the document", writes: true, unless: { $0.reasonAgainstDeleting },
      change: { $0.askToDelete() }),
    Command(
      "filter-like-this", "*", in: .pane(.detail), "filter its collection by the selected field's value",
      unless: { $0.reasonAgainstFilterLikeThis }, run: { $0.filterLikeThis() }),
  ]
}

/// The commands of pane 4's second list, the requests, and the commands that switch between the two lists.
extension Keymap {
  static let feedTabs: [Command] = [
    Command(
      "next-tab", "]", in: .pane(.feed), "the requests that the server's rules decided on", hint: "requests", 12,
      run: { $0.turnFeed() }),
    Command(
      "previous-tab", "[", in: .pane(.feed), "the requests that the server's rules decided on", isListed: false,
      run: { $0.turnFeed() }),
    Command(
      "next-tab", "]", in: .requests, "the events", hint: "events", 1, run: { $0.turnFeed() }),
    Command("previous-tab", "[", in: .requests, "the events", isListed: false, run: { $0.turnFeed() }),
  ]

  static let requests: [Command] = [
    Command(
      "toggle-pause", "space p", in: .requests, "keep the selected request in view, or follow the newest",
      hint: Wording { $0.requests.isFollowing ? "hold" : "follow" }, 4, change: { $0.toggleRequestsHeld() }),
    Command("follow", "f", in: .requests, "follow the tail", change: { $0.requests.follow() }),
    Command(
      "toggle-denied", "d", in: .requests, "show only denied requests, or all", hint: "denied", 2,
      change: { $0.requests.isDeniedOnly.toggle() }),
    Command(
      "only-user", "a", in: .requests, "show only requests of this user, or all",
      unless: { $0.requests.selected == nil && $0.requests.onlyUser == nil ? "no request is selected" : nil },
      change: { $0.requests.toggleOnlyUser() }),
    Command(
      "refresh-requests", "r", in: .requests, "ask the server again", unless: { $0.reasonAgainstRequests },
      run: { $0.requests.ask(at: $0.now) }),
    Command("new", "n", in: .requests, "new listener", change: { $0.openListenerEditor(from: "") }),
  ]
}
