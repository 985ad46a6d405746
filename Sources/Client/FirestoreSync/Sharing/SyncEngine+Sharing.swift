// SPDX-License-Identifier: Apache-2.0
import Dispatch
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreSQLite
import Glibc

/// A client whose cache is shared with others.
extension SyncEngine {
  /// Begins to hear the other clients: notices are dealt with at once, and the kernel tells of the end of the primary's
  /// process, or those do who run on the same thread. If the system watches no more files, the timer of the lease does
  /// both.
  func beginSharing() {
    guard core?.isShared == true else { return }
    let hasCompany = core?.joinCompany { [weak self] in self?.submit { engine in engine.hearOthers() } } ?? false
    if !hasCompany, let descriptor = core?.watchOthers() {
      let source = DispatchSource.makeReadSource(fileDescriptor: descriptor)
      source.setEventHandler { [weak self] in
        ClientPresence.drain(descriptor)
        self?.submit { engine in engine.hearOthers() }
      }
      source.setCancelHandler { close(descriptor) }
      source.activate()
      watchOfOthers = source
    }
    refreshLease()
  }

  private func hearOthers() {
    transition { core in
      core.hear()
      // No client has to wait until the lease of an ended process has run out.
      if core.isLeaseOpen() { core.refreshLease(at: now()) }
    }
  }

  func refreshLease() {
    transition { core in core.refreshLease(at: now()) }
  }

  /// Stops hearing the other clients.
  func endSharing() {
    watchOfOthers?.cancel()
    watchOfOthers = nil
  }

  /// Lets go of the cache as a process does that is killed: nothing is announced, and nothing waits for it.
  package func abandon() async {
    guard core != nil else { return }
    transition { core in core.prepareToClose() }
    await jobs.finish()
    endSharing()
    core.take()?.abandon()
    finishAll(.terminated)
  }

  /// The number of clients that use the cache now, this one included, and whether this one has the streams.
  package func sharing() async -> (clients: Int, isPrimary: Bool)? {
    guard core != nil, let clients = core?.clientCount, let isPrimary = core?.isPrimary else { return nil }
    return (clients, isPrimary)
  }

  /// Announces whether a user looks at this client's screen; of several clients one that is looked at has the streams.
  package nonisolated func setVisibility(_ isVisible: Bool) {
    submit { engine in engine.transition { core in core.setVisibility(isVisible) } }
  }
}
