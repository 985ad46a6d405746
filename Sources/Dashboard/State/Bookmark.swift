// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// A row with a letter, to come back to.
enum Bookmark: Hashable, Sendable {
  case item(Browser.Item)
  case write(BatchID)
  case feedRow(Int)
  case document(DocumentKey, line: [String]?)
}

/// What the next letter is for.
enum BookmarkVerb: Hashable, Sendable { case set, go }
