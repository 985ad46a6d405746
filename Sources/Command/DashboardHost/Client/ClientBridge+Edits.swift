// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreModel
import FirestoreSync

extension ClientBridge {
  /// Writes the result of the field editor; if another client changed the same fields, the user is asked first.
  package func write(_ edit: FieldEdit) {
    inOrder { bridge in
      let key: DocumentKey
      switch edit.subject {
      case .document(let changed): key = changed
      case .documentToCreate(let made): key = made
      case .newDocument(let collection):
        guard let made = DocumentKey(collection.appending(AutomaticID.make())) else {
          return bridge.emit(.notice(.error, "\(collection.text) is not a collection"))
        }
        key = made
      }
      guard let mutation = edit.mutation(of: key) else { return bridge.emit(.notice(.info, "Nothing was changed.")) }
      if case .document = edit.subject {
        switch DocumentEdit.standing(of: edit, mutation, now: try await bridge.engine.cachedDocument(key)) {
        case .alone: break
        case .beside(let others): bridge.emit(.notice(.info, DocumentEdit.notice(about: others)))
        case .conflict(let conflict): return bridge.emit(.editConflict(conflict))
        }
      }
      try await bridge.commit([mutation])
      switch edit.subject {
      case .newDocument, .documentToCreate: bridge.emit(.created(key))
      case .document: break
      }
    }
  }
}
