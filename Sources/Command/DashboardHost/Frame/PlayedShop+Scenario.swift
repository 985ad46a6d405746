// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import Scenarios

/// A scenario of `hearth play` as a screen: an empty database at the start, each step a while after the one before. What
/// a step expects is not checked, and faults are told and disturb nothing: there is no server that could disappoint it.
extension PlayedShop {
  mutating func play(_ steps: [ScenarioStep]) {
    hear(.collections(below: .root, []))
    hear(.status(status()))
    hear(.committed(.everything))
    var batch: Int64 = 0
    var known: Set<String> = []
    for step in steps {
      wait(milliseconds: 700)
      switch step.action {
      case .listen(let query, _, _): perform(state.listen(to: query, name: ListenerRecord.defaultName(for: query)))
      case .goOffline: if isOnline { goOffline() }
      case .goOnline: if !isOnline { goOnline() }
      case .write(let mutation):
        batch += 1
        write(mutation, as: BatchID(batch))
        if isOnline { acknowledgeAll() }
      case .fault(let change): perform(state.cause(change))
      // The screen is one client's: what others do, and what only a run can do, is not on it.
      default: break
      }
      let roots = Set(local.values.filter(\.exists).map { String($0.key.path.segments[0]) })
      if roots != known {
        known = roots
        hear(.collections(below: .root, roots.sorted()))
      }
    }
    wait(milliseconds: 700)
    apply(.tick(now))
  }

  mutating func goOnline() {
    setOnline(true)
    hear(.status(status()))
    hear(.committed(.everything))
    for listener in state.listeners { fire(listener, [], because: .server(SnapshotVersion(now)), syncs: true) }
    acknowledgeAll()
  }

  /// The backend takes everything that waits, one batch after the other.
  /// - Parameter milliseconds: the time that each of them takes.
  mutating func acknowledgeAll(after milliseconds: Int64 = 31) {
    for write in waiting {
      wait(milliseconds: milliseconds)
      waiting.removeFirst()
      hear(.writeAcknowledged(write.id, after: .milliseconds(milliseconds)))
      hear(.pendingWrites(waiting))
      for mutation in write.mutations { overlays[mutation.key] = nil }
      tell(commit(write.mutations), because: .acknowledged(write.id))
    }
  }
}
