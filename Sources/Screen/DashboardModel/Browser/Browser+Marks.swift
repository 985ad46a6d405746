// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

extension Browser {
  /// The time at which the next tint fades.
  package func nextMarkExpiry(after now: Timestamp) -> Timestamp? {
    let fading = marks.values.lazy.map(\.until).filter { $0 > now }.min()
    return [fading, result?.nextMarkExpiry(after: now)].compactMap(\.self).min()
  }

  /// Removes expired marks; documents with pending writes stay marked, without a tint.
  package mutating func forgetMarks(at now: Timestamp) {
    result?.forgetMarks(at: now)
    guard !marks.isEmpty else { return }
    marks = marks.filter { $1.until > now || document($0)?.hasPendingWrites == true }
  }

  package func isMarked(_ key: DocumentKey, _ name: String) -> Bool {
    marks[key]?.names.contains { $0.equalsUTF8(name) } ?? false
  }
}
