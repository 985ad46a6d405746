// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import FirestoreQuery

/// A row of a collection that is far from its window: first the document is searched for at which a window around the
/// row begins.
package struct RowSearch: Sendable {
  package var tag: WindowTag
  package var path: ResourcePath
  /// The row, counted from 0.
  package var row: Int
  /// The number of documents before the window.
  package var first: Int

  package init(tag: WindowTag, path: ResourcePath, row: Int, first: Int) {
    (self.tag, self.path, self.row, self.first) = (tag, path, row, first)
  }
}
