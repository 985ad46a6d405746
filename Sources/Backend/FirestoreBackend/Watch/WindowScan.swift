// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import FirestoreSQLite

/// A scan for the first documents of a target with a limit as they were at one version, in slices: in an order other
/// than that of storage all matches have to be read.
struct WindowScan {
  /// The ratio of the bytes read in one slice to the bytes told in one step.
  private static let bytesRead = 16

  let version: Int64
  private var top: TopDocuments
  private var position: DocumentPosition?
  /// The documents that changed since the scan's version.
  private(set) var touched: Set<DocumentKey> = []
  private(set) var isDone = false

  /// - Parameter bytes: the size of whole documents that may be held; beyond it only the fields of the ordering are
  ///   kept.
  init(_ target: Target, limit: Int, at version: Int64, holding bytes: Int) {
    self.version = version
    top = TopDocuments(target, limit: limit, holding: bytes)
  }

  /// Notes the documents that a commit changed.
  mutating func note(_ transitions: [DocumentTransition]) { touched.formUnion(transitions.lazy.map(\.key)) }

  /// Reads the next slice.
  /// - Parameter limit: the size of the documents that one step tells, in bytes.
  mutating func read(_ target: Target, _ reader: DocumentReader, upTo limit: Int) throws(StoreError) {
    // Documents that are named one by one are few, and read together.
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

  /// The changes, since the scan's version, of the documents that were noted.
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
