// SPDX-License-Identifier: Apache-2.0
import Dispatch
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

  private let queue: DispatchQueue
  private let state = Mutex(State())

  init(queue: DispatchQueue) { self.queue = queue }

  /// Calls with every progress from now on, on `FirestoreSettings.dispatchQueue`; with the last one if loading is over.
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

  /// Harmless for a handle that is not known.
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

  /// Calls when the observers have been called with what was reported before.
  func afterObservers(_ call: @escaping @Sendable () -> Void) { queue.async(execute: call) }

  private func callAll(_ progress: LoadBundleTaskProgress, _ handles: [LoadBundleObserverHandle]) {
    for handle in handles { queue.async { [self] in call(handle, progress) } }
  }

  /// On the queue, where an observer that is removed there is not called any more.
  private func call(_ handle: LoadBundleObserverHandle, _ progress: LoadBundleTaskProgress) {
    state.withLock { state in state.observers.first { $0.handle == handle }?.call }?(progress)
  }
}

/// Where the loading of a bundle stands.
public enum LoadBundleTaskState: Hashable, Sendable {
  /// Ended by an error. No further progress comes.
  case error
  /// More is to come.
  case inProgress
  /// All is loaded. No further progress comes.
  case success
}

/// How far the loading of a bundle is.
public struct LoadBundleTaskProgress: Hashable, Sendable {
  /// Documents of the bundle that the cache has looked at.
  public let documentsLoaded: Int
  /// 0 if the bundle could not be read.
  public let totalDocuments: Int
  /// Bytes of the bundle that belong to these documents.
  public let bytesLoaded: Int
  /// 0 if the bundle could not be read.
  public let totalBytes: Int
  /// Whether more is to come.
  public let state: LoadBundleTaskState

  init(_ progress: BundleProgress, _ state: LoadBundleTaskState) {
    documentsLoaded = progress.documents
    totalDocuments = progress.totalDocuments
    bytesLoaded = progress.bytes
    totalBytes = progress.totalBytes
    self.state = state
  }
}
