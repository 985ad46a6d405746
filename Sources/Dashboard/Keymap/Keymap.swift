// SPDX-License-Identifier: Apache-2.0
package import TerminalCanvas

/// The one table of bindings.
package enum Keymap {
  package static let bindings: [Binding] = always + screen + panes + overlays

  private static let always: [Binding] = [
    Binding(.interrupt, "ctrl-c", in: .always, "cancel; twice within a second quits"),
    Binding(.redraw, "ctrl-l", in: .always, "paint the screen again"),
    Binding(.suspend, "ctrl-z", in: .always, "suspend"),
  ]

  private static let screen: [Binding] = [
    Binding(.help, "? f1", in: .screen, "help: every key of this place", hint: "help", 6),
    Binding(.palette, ": ctrl-p", in: .screen, "command palette; :42 and :50% jump to a row", hint: "command", 7),
    Binding(.filter, "/", in: .screen, "filter this pane; in a document search", hint: "filter", 8),
    Binding(.toggleNetwork, "o", in: .screen, "go offline or online", hint: "offline", 3),
    Binding(.togglePause, "p", in: .screen, "pause or resume the feed", hint: "pause", 4),
    Binding(.nextPane, "tab", in: .screen, "next pane", hint: "pane", 10),
    Binding(.previousPane, "shift-tab", in: .screen, "previous pane"),
    Binding(.focusCollections, "1", in: .screen, "go to Collections"),
    Binding(.focusWrites, "2", in: .screen, "go to Pending writes"),
    Binding(.focusNetwork, "3", in: .screen, "go to Network"),
    Binding(.focusFeed, "4", in: .screen, "go to the Live feed"),
    Binding(.focusDetail, "0", in: .screen, "go to the document"),
    Binding(.open, "enter", in: .screen, "open what is selected", hint: "open", 9),
    Binding(.back, "esc", in: .screen, "back, close, clear the filter"),
    Binding(.quit, "q", in: .screen, "back; at the top quit", hint: "quit", 20),
    Binding(.quitNow, "Q", in: .screen, "quit at once, also from a list"),
    Binding(.down, "j down", in: .screen, "down"),
    Binding(.up, "k up", in: .screen, "up"),
    Binding(.top, "g home <", in: .screen, "first row"),
    Binding(.bottom, "G end >", in: .screen, "last row"),
    Binding(.halfPageDown, "ctrl-d", in: .screen, "half a page down"),
    Binding(.halfPageUp, "ctrl-u", in: .screen, "half a page up"),
    Binding(.pageDown, "ctrl-f pgdn", in: .screen, "a page down"),
    Binding(.pageUp, "ctrl-b pgup", in: .screen, "a page up"),
    Binding(.zoom, "+", in: .screen, "let this pane fill the screen"),
    Binding(.unzoom, "_", in: .screen, "show all panes again"),
    Binding(.nextLayout, "|", in: .screen, "next layout"),
    Binding(.setBookmark, "m", in: .screen, "mark this row with the letter that follows"),
    Binding(.goToBookmark, "'", in: .screen, "go to the row marked with the letter that follows"),
    Binding(.undo, "u", in: .screen, "undo the last write made here"),
    Binding(.copy, "y", in: .screen, "copy path, JSON, value, row or Swift"),
    Binding(.themes, "T", in: .screen, "choose a theme with live preview"),
    Binding(.faults, "F", in: .screen, "faults: latency, losses, rejections"),
    Binding(.explain, "i", in: .screen, "explain: how the cache answers the query, its indexes"),
    Binding(.toggleMouse, "%", in: .screen, "mouse on or off"),
  ]

  private static let panes: [Binding] = [
    Binding(
      .toggleListener, "space", in: .pane(.collections), "listen to the collection or document, or stop",
      hint: "listen", 1),
    Binding(.new, "n", in: .pane(.collections), "new document or listener", hint: "new", 2),
    Binding(.edit, "e", in: .pane(.collections), "edit the document in $EDITOR"),
    Binding(.delete, "d", in: .pane(.collections), "delete the document or field"),
    Binding(.fold, "h left", in: .pane(.collections), "fold, or go to the parent"),
    Binding(.unfold, "l right", in: .pane(.collections), "unfold, or go inside"),
    Binding(.foldAll, "-", in: .pane(.collections), "fold all"),
    Binding(.unfoldAll, "=", in: .pane(.collections), "unfold all collections"),
    Binding(.filterLikeThis, "*", in: .pane(.collections), "filter by the selected field's value"),

    Binding(
      .cancelWrite, "x", in: .pane(.writes), "cancel a waiting write, drop a rejected one", hint: "cancel write", 1),
    Binding(.mark, "space", in: .pane(.writes), "mark the write", hint: "mark", 2),
    Binding(
      .retryNow, "r", in: .pane(.writes), "send now without waiting for the retry; a rejected write again",
      hint: "retry now", 5),
    Binding(.edit, "e", in: .pane(.writes), "edit a rejected write in $EDITOR and send it again", hint: "edit", 11),
    Binding(.dropRejected, "X", in: .pane(.writes), "drop all rejected writes"),
    Binding(.new, "n", in: .pane(.writes), "new listener"),

    Binding(.toggleNetwork, "space", in: .pane(.network), "go offline or online"),
    Binding(
      .faults, "f", in: .pane(.network), "faults: latency, losses, rejections", hint: "faults", 5),
    Binding(.retryNow, "r", in: .pane(.network), "connect now, without waiting for the retry", hint: "retry now", 5),
    Binding(.new, "n", in: .pane(.network), "new listener"),

    Binding(.togglePause, "space", in: .pane(.feed), "pause or resume"),
    Binding(.follow, "f", in: .pane(.feed), "follow the tail"),
    Binding(.onlyListener, "L", in: .pane(.feed), "only this listener, or all again"),
    Binding(.onlyDocument, "D", in: .pane(.feed), "only this document, or all again"),
    Binding(.timeFormat, "t", in: .pane(.feed), "time of day, or time since the row above"),
    Binding(.clearFeed, "c", in: .pane(.feed), "clear the feed"),
    Binding(.edit, "e", in: .pane(.feed), "edit the document in $EDITOR"),
    Binding(.new, "n", in: .pane(.feed), "new listener"),

    Binding(.nextTab, "]", in: .pane(.detail), "next tab", hint: "next tab", 1),
    Binding(.previousTab, "[", in: .pane(.detail), "previous tab"),
    Binding(.fold, "h left", in: .pane(.detail), "fold, or go to the parent"),
    Binding(.unfold, "l right", in: .pane(.detail), "unfold"),
    Binding(.foldAll, "-", in: .pane(.detail), "fold all"),
    Binding(.unfoldAll, "=", in: .pane(.detail), "unfold all"),
    Binding(.nextMatch, "n", in: .pane(.detail), "next line that matches the search"),
    Binding(.previousMatch, "N", in: .pane(.detail), "previous line that matches"),
    Binding(.wrap, "w", in: .pane(.detail), "wrap long texts, or cut them"),
    Binding(.olderVersion, ",", in: .pane(.detail), "compare with an older version"),
    Binding(.newerVersion, ".", in: .pane(.detail), "compare with a newer version"),
    Binding(.toggleListener, "space", in: .pane(.detail), "listen to the document, or stop"),
    Binding(.edit, "e", in: .pane(.detail), "edit the document in $EDITOR", hint: "edit", 2),
    Binding(.delete, "d", in: .pane(.detail), "delete the document"),
    Binding(.filterLikeThis, "*", in: .pane(.detail), "filter its collection by the selected field's value"),
  ]

  private static let overlays: [Binding] =
    list(.help, accept: "run the selected binding", hint: "run")
    + list(.palette, accept: "run", hint: "run")
    + list(.themes, accept: "keep this theme", hint: "keep")
    + list(.copyMenu, accept: "copy", hint: "copy")
    + list(.newMenu, accept: "choose", hint: "choose")
    + list(.faults, accept: "switch it, or let it happen to the next write", hint: "switch")
    + list(.explanation, accept: "do what the row says", hint: "do it")
    + list(.messages, accept: "close", hint: nil)
    + [
      Binding(.accept, "enter", in: .overlay(.filter), "keep the filter", hint: "keep", 1),
      Binding(.cancel, "esc", in: .overlay(.filter), "drop the filter", hint: "clear", 2),

      Binding(.accept, "enter", in: .overlay(.confirm), "the selected answer", hint: "choose", 1),
      Binding(.cancel, "esc", in: .overlay(.confirm), "cancel", hint: "cancel", 2),
      Binding(.nextField, "tab right", in: .overlay(.confirm), "other answer", hint: "other answer", 3),
      Binding(.previousField, "shift-tab left", in: .overlay(.confirm), "other answer"),

      Binding(.nextField, "tab down", in: .overlay(.listener), "next field", hint: "next", 1),
      Binding(.previousField, "shift-tab up", in: .overlay(.listener), "previous field"),
      Binding(.accept, "enter", in: .overlay(.listener), "start listening", hint: "start listening", 2),
      Binding(.toggleOption, "ctrl-t", in: .overlay(.listener), "switch the option or operator", hint: "switch", 4),
      Binding(.removeClause, "ctrl-x", in: .overlay(.listener), "remove the clause", hint: "remove clause", 5),
      Binding(.copySwift, "ctrl-y", in: .overlay(.listener), "copy the Swift code", hint: "copy Swift", 6),
      Binding(.explain, "ctrl-o", in: .overlay(.listener), "explain: how the cache answers it", hint: "explain", 7),
      Binding(.cancel, "esc", in: .overlay(.listener), "cancel", hint: "cancel", 3),
    ]

  private static func list(_ kind: Overlay.Kind, accept: String, hint: String?) -> [Binding] {
    [
      Binding(.accept, "enter", in: .overlay(kind), accept, hint: hint, 2),
      Binding(.cancel, "esc", in: .overlay(kind), "close", hint: "close", 1),
      Binding(.down, "down ctrl-n", in: .overlay(kind), "down", hint: "down", 4),
      Binding(.up, "up ctrl-p", in: .overlay(kind), "up", hint: "up", 3),
      Binding(.pageDown, "pgdn", in: .overlay(kind), "a page down"),
      Binding(.pageUp, "pgup", in: .overlay(kind), "a page up"),
    ]
  }

  private static let index: [KeyContext: [Key: Binding]] = Dictionary(grouping: bindings, by: \.context)
    .mapValues { group in
      Dictionary(
        group.flatMap { binding in binding.keys.map { ($0, binding) } }, uniquingKeysWith: { first, _ in first })
    }

  /// The binding of a key, looked up in the contexts in order.
  package static func binding(for key: Key, in contexts: [KeyContext]) -> Binding? {
    for context in contexts {
      if let binding = index[context]?[key] { return binding }
    }
    return nil
  }

  package static func binding(for command: Command, in contexts: [KeyContext]) -> Binding? {
    for context in contexts {
      if let binding = bindings.first(where: { $0.command == command && $0.context == context }) { return binding }
    }
    return nil
  }
}
