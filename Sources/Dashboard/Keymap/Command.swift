// SPDX-License-Identifier: Apache-2.0

/// Everything a key, a click or the palette can ask for. The raw value is the name in scripts and help.
package enum Command: String, CaseIterable, Hashable, Sendable {
  // Moving
  case down, up, top, bottom
  case halfPageDown = "half-page-down"
  case halfPageUp = "half-page-up"
  case pageDown = "page-down"
  case pageUp = "page-up"
  case unfold, fold
  case foldAll = "fold-all"
  case unfoldAll = "unfold-all"
  case focusCollections = "collections"
  case focusWrites = "writes"
  case focusNetwork = "network"
  case focusFeed = "feed"
  case focusDetail = "detail"
  case nextPane = "next-pane"
  case previousPane = "previous-pane"
  case nextTab = "next-tab"
  case previousTab = "previous-tab"
  case zoom
  case unzoom
  case nextLayout = "layout"
  // Everywhere
  case open, back, quit
  case quitNow = "quit-now"
  case interrupt
  case toggleNetwork = "toggle-network"
  case togglePause = "toggle-pause"
  case filter
  case palette, help
  case copy
  case themes
  case faults
  case explain
  case toggleMouse = "mouse"
  case redraw, suspend
  case messages
  // Panes
  case toggleListener = "listen"
  case filterLikeThis = "filter-like-this"
  case new
  case edit, delete
  case mark
  case setBookmark = "set-mark"
  case goToBookmark = "go-to-mark"
  case undo
  case nextMatch = "next-match"
  case previousMatch = "previous-match"
  case cancelWrite = "cancel-write"
  case dropRejected = "drop-rejected"
  case retryNow = "retry"
  case follow
  case onlyListener = "only-listener"
  case onlyDocument = "only-document"
  case timeFormat = "time-format"
  case clearFeed = "clear-feed"
  case wrap
  case olderVersion = "older-version"
  case newerVersion = "newer-version"
  // Overlays
  case accept, cancel
  case nextField = "next-field"
  case previousField = "previous-field"
  case toggleOption = "toggle-option"
  case removeClause = "remove-clause"
  case copySwift = "copy-swift"
}
