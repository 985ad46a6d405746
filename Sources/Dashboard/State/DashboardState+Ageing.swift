// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

extension DashboardState {
  /// When the screen next changes by itself; `nil` while nothing on it ages, so that an idle dashboard sends nothing.
  /// The owner sends `Action.tick` at that moment.
  package var nextTick: Timestamp? {
    var moments = toasts.map(\.expiry)
    moments += [writes.nextExpiry, browser.nextMarkExpiry(after: now)].compactMap(\.self)
    if hasRunningClock { moments.append(now.nextSecond) }
    return moments.min()
  }

  /// Whether something on the screen counts seconds: the age of a waiting write, an outage, a retry, the event rate.
  private var hasRunningClock: Bool {
    !writes.live.isEmpty || network.isOffline || network.retryAt != nil || rate.isDecaying(at: now)
  }

  /// Lets time pass: toasts go, highlights fade, clocks advance.
  mutating func age(to time: Timestamp) {
    now = max(now, time)
    toasts.removeAll { $0.expiry <= now }
    writes.age(to: now)
    browser.forgetMarks(at: now)
  }
}

extension Browser {
  /// When the next highlight fades. Fields of documents with pending writes stay marked.
  func nextMarkExpiry(after now: Timestamp) -> Timestamp? {
    marks.filter { $1.until > now && document($0)?.hasPendingWrites != true }.values.map(\.until).min()
  }

  mutating func forgetMarks(at now: Timestamp) {
    guard !marks.isEmpty else { return }
    marks = marks.filter { $1.until > now || document($0)?.hasPendingWrites == true }
  }

  func isMarked(_ key: DocumentKey, _ name: String) -> Bool {
    marks[key]?.names.contains { $0.equalsUTF8(name) } ?? false
  }
}
