// SPDX-License-Identifier: Apache-2.0
import FirestoreSync
import Synchronization

/// Names an observer of a `LoadBundleTask`.
public typealias LoadBundleObserverHandle = Int

/// The loading of a bundle, which goes on observed or not.
public final class LoadBundleTask: Sendable {
  private typealias Observer = @Sendable (LoadBundleTaskProgress) -> Void

  private struct State {
    var observers: [(handle: LoadBundleObserverHandle, call: Observer)] = []
    var lastHandle = 0
    /// The newest progress, which a failure reports with another state.
    var progress = BundleProgress(totalDocuments: 0, totalBytes: 0)
    var end: LoadBundleTaskProgress?
  }

  private let queue: CallbackQueue
  private let state = Mutex(State())

  init(queue: CallbackQueue) { self.queue = queue }

  /// Calls the observer with every progress from now on, on `FirestoreSettings.dispatchQueue`; if loading is over, once
  /// with the last progress.
  @discardableResult
  public func addObserver(
    _ observer: @escaping @Sendable (LoadBundleTaskProgress) -> Void
  ) -> LoadBundleObserverHandle {
    let (handle, end) = state.withLock { state in
      state.lastHandle += 1
      state.observers.append((state.lastHandle, observer))
      return (state.lastHandle, state.end)
    }
    if let end { queue.async { [self] in call(handle, end) } }
    return handle
  }

  /// Ends one observer without another call. Does nothing for an unknown handle.
  public func removeObserverWith(handle: LoadBundleObserverHandle) {
    state.withLock { state in state.observers.removeAll { $0.handle == handle } }
  }

  /// Ends all observers without another call.
  public func removeAllObservers() { state.withLock { $0.observers = [] } }

  func report(_ progress: BundleProgress) {
    state.withLock { state in
      state.progress = progress
      callAll(LoadBundleTaskProgress(progress, .inProgress), state.observers.map(\.handle))
    }
  }

  /// Ends the task with its last progress; `nil` for an error.
  /// - Returns: the last progress.
  @discardableResult
  func finish(_ progress: BundleProgress?) -> LoadBundleTaskProgress {
    state.withLock { state in
      let end = LoadBundleTaskProgress(progress ?? state.progress, progress == nil ? .error : .success)
      state.end = end
      callAll(end, state.observers.map(\.handle))
      return end
    }
  }

  /// Calls the closure after the observers have been called with all progress reported so far.
  func afterObservers(_ call: @escaping @Sendable () -> Void) { queue.async(call) }

  private func callAll(_ progress: LoadBundleTaskProgress, _ handles: [LoadBundleObserverHandle]) {
    for handle in handles { queue.async { [self] in call(handle, progress) } }
  }

  /// Calls one observer, unless it has been removed. Runs on the queue, so that an observer that was removed there is
  /// not called any more.
  private func call(_ handle: LoadBundleObserverHandle, _ progress: LoadBundleTaskProgress) {
    state.withLock { state in state.observers.first { $0.handle == handle }?.call }?(progress)
  }
}

/// The stage of the loading of a bundle.
public enum LoadBundleTaskState: Hashable, Sendable {
  /// Ended by an error. No further progress comes.
  case error
  /// More is to come.
  case inProgress
  /// All is loaded. No further progress comes.
  case success
}

/// The progress of the loading of a bundle.
public struct LoadBundleTaskProgress: Hashable, Sendable {
  /// The number of documents of the bundle that the cache has looked at.
  public let documentsLoaded: Int
  /// The number in the whole bundle; 0 if the bundle could not be read.
  public let totalDocuments: Int
  /// The number of bytes of the bundle that belong to these documents.
  public let bytesLoaded: Int
  /// The number in the whole bundle; 0 if the bundle could not be read.
  public let totalBytes: Int
  /// The stage: in progress, ended with success, or ended by an error.
  public let state: LoadBundleTaskState

  init(_ progress: BundleProgress, _ state: LoadBundleTaskState) {
    documentsLoaded = progress.documents
    totalDocuments = progress.totalDocuments
    bytesLoaded = progress.bytes
    totalBytes = progress.totalBytes
    self.state = state
  }
}
