// SPDX-License-Identifier: Apache-2.0
import FirestoreSync
import Synchronization

/// The mailboxes of a client's callback listeners.
final class CallbackListeners: Sendable {
  private let mailboxes = Mutex<[ObjectIdentifier: SnapshotMailbox]>([:])

  func add(_ mailbox: SnapshotMailbox) { mailboxes.withLock { $0[ObjectIdentifier(mailbox)] = mailbox } }
  func remove(_ mailbox: SnapshotMailbox) { mailboxes.withLock { $0[ObjectIdentifier(mailbox)] = nil } }

  /// Ends all of them without another callback.
  func finish() {
    for mailbox in mailboxes.withLock({ Array($0.values) }) { mailbox.finish() }
  }

  /// Waits until every snapshot that is in a mailbox now has been called back.
  func settle() async {
    for mailbox in mailboxes.withLock({ Array($0.values) }) { await mailbox.settle() }
  }
}
