// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery

extension DashboardState {
  /// Whether `space` in a pane would stop a listener instead of starting one.
  func isListeningToSelection(in pane: Pane) -> Bool {
    guard let path = selectedKey(in: pane)?.path ?? (pane == .collections ? selectedCollection : nil) else {
      return false
    }
    return listeners.contains { listener in
      listener.failure == nil && listener.query.path == path && listener.query.collectionGroup == nil
        && listener.query.filters.isEmpty
    }
  }
}
