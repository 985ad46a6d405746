// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The clients of one cache that run on one thread, as those of a simulation: they wake each other there, in the order in
/// which they came, in place of the kernel's news of their files.
package final class SharedCompany: Sendable {
  private struct Member {
    var place: Int64
    var wake: @Sendable () -> Void
  }

  private let members = Mutex<[Member]>([])

  package init() {}

  /// - Parameter place: the client's place in the directory of the cache.
  func join(_ place: Int64, _ wake: @escaping @Sendable () -> Void) {
    members.withLock { $0.append(Member(place: place, wake: wake)) }
  }

  func leave(_ place: Int64) { members.withLock { members in members.removeAll { $0.place == place } } }

  func wakeOthers(than place: Int64) {
    for member in members.withLock({ $0 }) where member.place != place { member.wake() }
  }
}
