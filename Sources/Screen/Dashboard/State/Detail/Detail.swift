// SPDX-License-Identifier: Apache-2.0
package import DashboardModel
package import FirestoreModel

/// The open document of pane 0.
package struct Detail: Sendable {
  package enum Tab: Int, CaseIterable, Hashable, Sendable {
    case data, diff, history, overlay, meta

    package var title: String {
      switch self {
      case .data: "Data"
      case .diff: "Diff"
      case .history: "History"
      case .overlay: "Overlay"
      case .meta: "Meta"
      }
    }
  }

  package let key: DocumentKey
  package var tab = Tab.data
  /// The backend's version as cached.
  package var remote: Document? { didSet { fieldLines = nil } }
  /// The one mutation that sums up the queued writes.
  package var overlay: Mutation? { didSet { fieldLines = nil } }
  /// The document that listeners see.
  package var local: Document? { didSet { fieldLines = nil } }
  package var isLoaded = false { didSet { fieldLines = nil } }
  /// The side that vouches for the document; `nil` where that was not told.
  package var source: DocumentSource?
  /// Whether this is only a preview with the tree's data, while the tree's cursor passes.
  package var isPreview = false { didSet { fieldLines = nil } }
  var folding = FieldTree.Folding.automatic { didSet { fieldLines = nil } }
  /// The fields whose folding differs from `folding`.
  var toggled: Set<[String]> = [] { didSet { fieldLines = nil } }
  /// The version that the Diff tab shows; `nil` for the newest.
  package var version: Int?
  /// The version that Diff compares with; `nil` for the one before the shown one.
  package var base: Int?
  /// Whether texts that are wider than their column are wrapped.
  var wraps = false
  /// The filter whose matches `n` and `N` visit.
  package var search = RowFilter.none
  /// The index of the line that was selected when the search began.
  var searchStart = 0
  package internal(set) var cursor = Cursor<[String]>()
  /// The lines of the fields, kept while neither the fields nor their folding change: a document may have very many.
  private(set) var fieldLines: [DetailContent.Line]?

  init(_ key: DocumentKey) { self.key = key }

  mutating func keepFieldLines() {
    if fieldLines == nil, tab == .data { fieldLines = DetailContent.fieldLines(of: self) }
  }

  /// Folds or unfolds all fields.
  package mutating func fold(_ folding: FieldTree.Folding) {
    self.folding = folding
    toggled = []
  }

  package var hasPendingWrites: Bool { overlay != nil || local?.hasPendingWrites == true }
}
