// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// A row of a short list of choices.
package struct MenuItem: Sendable {
  package enum Choice: Sendable {
    case copy(String)
    case newDocument(in: ResourcePath)
    case newDocumentAtPath
    case newListener
    /// Resume the edit that was sent last, over the document as others have left it.
    case editFields(over: Fields?)
    case open(DocumentKey)
    /// Show what the server's rules said of a refused write.
    case openRequest(of: BatchID)
    /// Perform effects, and show a message if they show none.
    case perform([Effect], saying: String? = nil)
  }

  package var letter: Character
  package var title: String
  /// The effect or the result of the choice; shown muted.
  package var detail: String
  package var choice: Choice

  package init(letter: Character, title: String, detail: String, choice: Choice) {
    (self.letter, self.title, self.detail, self.choice) = (letter, title, detail, choice)
  }
}
