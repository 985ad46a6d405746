// SPDX-License-Identifier: Apache-2.0
import Dispatch
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreSync
import SerialExecutors
import Synchronization

/// The handle for removing a listener. Releasing the registration does not stop the listener.
public protocol ListenerRegistration: Sendable {
  /// Stops the listener. A second call does nothing. If you call it on `FirestoreSettings.dispatchQueue`, no callback
  /// follows. If you call it elsewhere, a callback that has already begun may still be running.
  func remove()
}

/// A listener that calls a closure on a dispatch queue. It reads a snapshot from the mailbox, calls the closure and
/// waits until the closure returns. While the listener waits, the mailbox merges snapshots, so a slow closure does not
/// make the queue grow.
final class CallbackListener: ListenerRegistration {
  private let mailbox = SnapshotMailbox()
  private let isRemoved = Atomic(false)
  private let client: Client
  private let id: ListenerID

  init(
    client: Client, query: FirestoreQuery.Query, options: ListenerOptions, on queue: CallbackQueue,
    deliver: @escaping @Sendable (Result<ViewSnapshot, FirestoreError>) -> Void
  ) {
    self.client = client
    id = client.engine.listen(to: query, options: options, into: mailbox)
    client.callbackListeners.add(mailbox)
    let isStarted = client.callbackTasks.start { [self] in
      while let element = await mailbox.next() {
        await queue.perform { [self] in
          if isRemoved.load(ordering: .acquiring) { return }
          switch element {
          case .snapshot(let view): deliver(.success(view))
          case .failed(let status): deliver(.failure(FirestoreError(status)))
          }
        }
      }
      client.callbackListeners.remove(mailbox)
    }
    // The client was terminated meanwhile: report the same error as for a listener that is added afterwards.
    if !isStarted { queue.async { deliver(.failure(.terminated)) } }
  }

  func remove() {
    if isRemoved.exchange(true, ordering: .acquiringAndReleasing) { return }
    client.engine.stopListening(id)
    mailbox.finish()
  }
}

/// The registration of a listener that was created with an invalid argument. Its only callback reports the error.
final class RefusedListener: ListenerRegistration {
  private let isRemoved = Atomic(false)

  init(on queue: CallbackQueue, report: @escaping @Sendable () -> Void) {
    queue.async { [self] in
      if !isRemoved.load(ordering: .acquiring) { report() }
    }
  }

  func remove() { isRemoved.store(true, ordering: .releasing) }
}

/// A client's listeners with callbacks, indexed by their mailboxes.
final class CallbackListeners: Sendable {
  private let mailboxes = Mutex<[ObjectIdentifier: SnapshotMailbox]>([:])

  func add(_ mailbox: SnapshotMailbox) { mailboxes.withLock { $0[ObjectIdentifier(mailbox)] = mailbox } }
  func remove(_ mailbox: SnapshotMailbox) { mailboxes.withLock { $0[ObjectIdentifier(mailbox)] = nil } }

  /// Ends all listeners, without any further callback.
  func finish() {
    for mailbox in mailboxes.withLock({ Array($0.values) }) { mailbox.finish() }
  }

  /// Waits until the callbacks have finished for all snapshots that are in mailboxes when this function is called.
  func settle() async {
    for mailbox in mailboxes.withLock({ Array($0.values) }) { await mailbox.settle() }
  }
}

extension Firestore {
  /// Calls `listener` after each change, once all listeners that the change affects have been called. At that time, the
  /// listeners' snapshots are consistent with each other (S1), but not necessarily in sync with the backend.
  @discardableResult
  public func addSnapshotsInSyncListener(_ listener: @escaping @Sendable () -> Void) -> any ListenerRegistration {
    let queue = callbackQueue
    // A client that cannot be opened has no snapshots, and this listener does not report errors.
    guard let client = try? client() else { return RefusedListener(on: queue) {} }
    return InSyncListener(client: client, on: queue, listener)
  }
}

/// The registration of a snapshots-in-sync listener.
private final class InSyncListener: ListenerRegistration {
  private let isRemoved = Atomic(false)

  init(client: Client, on queue: CallbackQueue, _ listener: @escaping @Sendable () -> Void) {
    let signals = client.engine.snapshotsInSync()
    client.callbackTasks.start { [self] in
      for await _ in signals {
        await client.callbackListeners.settle()
        if isRemoved.load(ordering: .acquiring) { return }
        await queue.perform { [self] in
          if !isRemoved.load(ordering: .acquiring) { listener() }
        }
      }
    }
  }

  func remove() { isRemoved.store(true, ordering: .releasing) }
}

/// Runs listeners and completions one at a time, on the queue in the settings or on a simulation's thread.
struct CallbackQueue: Sendable {
  private let queue: DispatchQueue
  private let loop: (any WorkLoop)?

  init(_ queue: DispatchQueue, on loop: (any WorkLoop)?) { (self.queue, self.loop) = (queue, loop) }

  func async(_ work: @escaping @Sendable () -> Void) {
    if let loop { loop.perform(work) } else { queue.async(execute: work) }
  }

  /// Runs the closure and waits until it returns, without blocking a thread.
  func perform(_ closure: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
      async {
        closure()
        continuation.resume()
      }
    }
  }
}

extension Firestore {
  var callbackQueue: CallbackQueue { CallbackQueue(dispatchQueue, on: app.backend.surroundings.loop) }
}
