// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState

// Counts from another program are added up here, and absurd ones would overflow and end the watcher.

extension Int {
  /// Not negative, and with room for sums.
  package var plausible: Int { Swift.min(Swift.max(self, 0), 1 << 40) }
}

extension ClientStatus {
  package var plausible: ClientStatus {
    var status = self
    status.queue = QueueSize(
      count: queue.count.plausible, total: queue.total.plausible, byteCount: queue.byteCount.plausible)
    for index in status.pendingWrites.indices {
      status.pendingWrites[index].byteCount = pendingWrites[index].byteCount.plausible
      status.pendingWrites[index].attempts = pendingWrites[index].attempts.plausible
    }
    for index in status.reads.indices {
      status.reads[index].sent = reads[index].sent.plausible
      status.reads[index].kept = reads[index].kept.plausible
    }
    status.activeTargets = activeTargets.plausible
    status.inFlightWrites = inFlightWrites.plausible
    return status
  }
}
