// SPDX-License-Identifier: Apache-2.0
import Dispatch
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreSQLite
import Glibc

/// The engine's functions for a shared cache.
extension SyncEngine {
  /// Begins to observe the other clients, so that their notices are processed immediately. This client then also
  /// detects immediately when the primary client's process ends. If the system cannot watch more files, this client
  /// detects notices and the end of that process only when it next refreshes the lease.
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
      // Takes a free lease immediately instead of waiting until the lease of an ended process expires.
      if core.isLeaseOpen() { core.refreshLease(at: now()) }
    }
  }

  func refreshLease() {
    transition { core in core.refreshLease(at: now()) }
  }

  /// Stops observing the other clients.
  func endSharing() {
    watchOfOthers?.cancel()
    watchOfOthers = nil
  }

  /// Closes the cache without announcements and without waiting, as if the process had been killed.
  package func abandon() async {
    guard core != nil else { return }
    transition { core in core.prepareToClose() }
    await jobs.finish()
    endSharing()
    core.take()?.abandon()
    finishAll(.terminated)
  }

  /// The number of clients that currently use the cache, including this client, and whether this client runs the
  /// streams.
  package func sharing() async -> (clients: Int, isPrimary: Bool)? {
    guard core != nil, let clients = core?.clientCount, let isPrimary = core?.isPrimary else { return nil }
    return (clients, isPrimary)
  }

  /// Announces whether this client is in the foreground. The cache's clients prefer a client in the foreground for
  /// running the streams.
  package nonisolated func setVisibility(_ isVisible: Bool) {
    submit { engine in engine.transition { core in core.setVisibility(isVisible) } }
  }
}
