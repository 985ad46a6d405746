// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreJSON
import FirestoreModel

/// Out of the field editor: back, to the user's editor of texts, or to the client.
extension DashboardState {
  // MARK: Leaving

  /// `esc`: a step back, and from the fields out of the editor, not without a question where edits would be lost.
  mutating func leaveFieldEditor() -> [Effect] {
    guard var editor = overlay?.fieldEditor else { return [] }
    if editor.stepBack() {
      overlay = .fields(editor)
      return []
    }
    guard editor.hasUnsentEdits else {
      overlay = nil
      return []
    }
    let count = editor.edited.changeCount
    typing.editing.wait(editor)
    overlay = .confirm(
      Confirmation(
        title: "Leave the editor",
        body: [
          "\(count) change\(count == 1 ? "" : "s") of \(editor.subject.place) \(count == 1 ? "was" : "were") not sent."
        ],
        action: count == 1 ? "Drop it" : "Drop them", subject: .dropEdits))
    return []
  }

  var reasonAgainstTextEditor: String? {
    overlay?.fieldEditor?.edited.transforms.isEmpty == false
      ? "a text has no transforms: send them first, or u takes them back" : nil
  }

  /// Continues in the user's text editor, with the changes so far in the text.
  mutating func editAsText() -> [Effect] {
    guard let editor = overlay?.fieldEditor else { return [] }
    overlay = nil
    typing.editing.handOver(editor)
    let edit = editor.edit
    let database = configuration.database
    func text(_ fields: Fields) -> String {
      fields.isEmpty ? "{\n  \n}\n" : DocumentJSON.text(of: fields, relativeTo: database)
    }
    var request = EditRequest(edit.subject.request, text: text(edit.base))
    request.text = text(edit.fields)
    return [.terminal(.edit(request))]
  }

  // MARK: Sending

  mutating func reviewEdit() {
    guard acceptFieldValue(), let editor = overlay?.fieldEditor else { return }
    let exists = editor.isNew && editor.key.map { document($0)?.exists == true } ?? false
    overlay?.fieldEditor?.review = FieldReview(editor, exists: exists)
  }

  /// Reviews the edit as a set of the whole document, or again as an update.
  mutating func toggleReplacing() {
    overlay?.fieldEditor?.toggleReplacing()
    reviewEdit()
  }

  var reasonAgainstSending: String? { overlay?.fieldEditor?.review?.problem }

  mutating func sendEdit() -> [Effect] {
    guard let editor = overlay?.fieldEditor else { return [] }
    overlay = nil
    return [.client(.edit(typing.editing.send(editor)))]
  }

  func copyReviewed() -> [Effect] {
    (overlay?.fieldEditor?.review?.text).map { [.terminal(.copy($0))] } ?? []
  }
}
