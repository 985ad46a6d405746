// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import FirestoreSQLite

/// The first documents of a target with a limit as they were at one version, found in slices: for an order other than that of
/// storage all matches have to be looked at.
struct WindowScan {
  /// Documents read in one slice hold so many times what one step tells.
  private static let bytesRead = 16

  let version: Int64
  private var top: TopDocuments
  private var position: DocumentPosition?
  /// Documents that changed since.
  private(set) var touched: Set<DocumentKey> = []
  private(set) var isDone = false

  /// - Parameter bytes: of documents that hold more, only the fields are kept by which they are sorted.
  init(_ target: Target, limit: Int, at version: Int64, holding bytes: Int) {
    self.version = version
    top = TopDocuments(target, limit: limit, holding: bytes)
  }

  /// Notes what a commit changed.
  mutating func note(_ transitions: [DocumentTransition]) { touched.formUnion(transitions.lazy.map(\.key)) }

  /// Looks at the next slice.
  /// - Parameter limit: what the documents of one step hold.
  mutating func read(_ target: Target, _ reader: DocumentReader, upTo limit: Int) throws(StoreError) {
    // Documents that are named one by one are few, and looked at together.
    let readable = KeyRange(target).keys == nil ? min(limit, 1 << 40) * Self.bytesRead : .max
    var bytes = 0
    position = try reader.at(version).scanMatches(
      of: ServedQuery(target), after: position, rows: SessionTarget.stepSize
    ) { document in
      bytes += document.storedSize
      top.add(document)
      return bytes < readable
    }
    isDone = position == nil
  }

  mutating func finish() -> LimitWindow.Result { top.finish() }

  /// What became since of the documents that changed.
  func transitions(_ reader: DocumentReader) throws(StoreError) -> [DocumentTransition] {
    var transitions: [DocumentTransition] = []
    for key in touched {
      transitions.append(
        DocumentTransition(
          key: key, position: DocumentPosition(collection: 0, name: DocumentName(key.documentID)),
          before: try reader.at(version).stored(key)?.document, after: try reader.document(key)))
    }
    return transitions
  }
}
