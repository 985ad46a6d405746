// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The open document of pane 0.
package struct Detail: Sendable {
  package enum Tab: Int, CaseIterable, Hashable, Sendable {
    case data, diff, history, overlay, meta

    var title: String {
      switch self {
      case .data: "Data"
      case .diff: "Diff"
      case .history: "History"
      case .overlay: "Overlay"
      case .meta: "Meta"
      }
    }
  }

  enum Folding: Hashable, Sendable { case automatic, open, folded }

  package let key: DocumentKey
  package internal(set) var tab = Tab.data
  /// The backend's version as cached.
  var remote: Document?
  /// What the queued writes amount to.
  var overlay: Mutation?
  /// What listeners see.
  var local: Document?
  var isLoaded = false
  /// Whether it only shows what the tree has, while the tree's cursor passes.
  var isPreview = false
  var folding = Folding.automatic
  /// Fields whose folding differs from what `folding` says.
  var toggled: Set<[String]> = []
  /// The version that the Diff tab shows; the newest for `nil`.
  var version: Int?
  /// Whether texts that are wider than their column go on in the lines below.
  var wraps = false
  /// What `n` and `N` look for.
  var search = WordFilter("")
  /// Which line was selected when the search began.
  var searchStart = 0
  package internal(set) var cursor = Cursor<[String]>()

  init(_ key: DocumentKey) { self.key = key }

  /// Folds or unfolds all fields.
  mutating func fold(_ folding: Folding) {
    self.folding = folding
    toggled = []
  }

  var hasPendingWrites: Bool { overlay != nil || local?.hasPendingWrites == true }
}
