// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// The changes of collections that a follower has not taken: one notice each, however many commits there were.
struct CollectionNotices: Sendable {
  /// The greatest number of collections told apart; beyond it everything may have changed.
  static let most = 1_000

  private var notices: [ResourcePath: CollectionNotice] = [:]
  private var isEverything: Bool

  /// - Parameter isEverything: whether the first news is that everything may have changed.
  init(isEverything: Bool = false) { self.isEverything = isEverything }

  mutating func note(_ transition: DocumentTransition) {
    if isEverything { return }
    let path = transition.key.collection
    guard notices.count < Self.most || notices[path] != nil else { return noteEverything() }
    let (was, isNow) = (transition.before?.exists ?? false, transition.after.exists)
    if was, isNow { notices[path, default: CollectionNotice(path)].changed += 1 }
    if !was, isNow { notices[path, default: CollectionNotice(path)].created += 1 }
    if was, !isNow { notices[path, default: CollectionNotice(path)].deleted += 1 }
  }

  mutating func noteEverything() {
    isEverything = true
    notices = [:]
  }

  /// - Returns: `nil` if there is no news.
  mutating func take() -> CommitNews? {
    defer { (notices, isEverything) = ([:], false) }
    if isEverything { return .everything }
    return notices.isEmpty ? nil : .collections(notices.values.sorted { $0.collection < $1.collection })
  }
}
