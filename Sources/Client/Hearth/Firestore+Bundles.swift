// SPDX-License-Identifier: Apache-2.0
import Dispatch
import FirestoreModel
import FirestoreSync
public import Foundation
import SerialExecutors
import Synchronization

// A bundle contains query results packed by the backend. Loading it fills caches without queries to the backend. The
// whole bundle is checked first: if it is incomplete, damaged, or from another database, loading fails with
// `invalidArgument` and stores nothing. Then its documents are stored in slices. Reads, writes and listeners continue
// between slices.

extension Firestore {
  /// Starts loading a bundle into the cache.
  @discardableResult
  public func loadBundle(_ bundleData: Data) -> LoadBundleTask { loadBundle(bundleData, completion: nil) }

  /// Starts loading a bundle into the cache.
  /// - Parameter completion: called after all observers, with the final progress or with the error.
  @discardableResult
  public func loadBundle(
    _ bundleData: Data, completion: (@Sendable (LoadBundleTaskProgress?, (any Error)?) -> Void)?
  ) -> LoadBundleTask {
    load(ByteSource(bundleData), completion)
  }

  /// Starts loading a bundle from a stream, which is read to its end.
  @discardableResult
  public func loadBundle(_ bundleStream: sending InputStream) -> LoadBundleTask {
    loadBundle(bundleStream, completion: nil)
  }

  /// Starts loading a bundle from a stream, which is read to its end.
  /// - Parameter completion: called after all observers, with the final progress or with the error.
  @discardableResult
  public func loadBundle(
    _ bundleStream: sending InputStream,
    completion: (@Sendable (LoadBundleTaskProgress?, (any Error)?) -> Void)?
  ) -> LoadBundleTask {
    load(ByteSource(bundleStream), completion)
  }

  /// Loads a bundle into the cache and returns the final progress.
  /// - Throws: `invalidArgument` if the bundle is damaged or from another database.
  @discardableResult
  public func loadBundle(_ bundleData: Data) async throws -> LoadBundleTaskProgress {
    try await load(ByteSource(bundleData), LoadBundleTask(queue: callbackQueue))
  }

  /// Loads a bundle from a stream, which is read to its end, and returns the final progress.
  /// - Throws: `invalidArgument` if the bundle is damaged or from another database; `unknown` if the stream fails.
  @discardableResult
  public func loadBundle(_ bundleStream: sending InputStream) async throws -> LoadBundleTaskProgress {
    try await load(ByteSource(bundleStream), LoadBundleTask(queue: callbackQueue))
  }

  private func load(
    _ source: ByteSource, _ completion: (@Sendable (LoadBundleTaskProgress?, (any Error)?) -> Void)?
  ) -> LoadBundleTask {
    let task = LoadBundleTask(queue: callbackQueue)
    complete(
      { (progress: LoadBundleTaskProgress?, error) in
        // Ends the task here if the client cannot be used, because then loading never begins.
        if progress == nil { task.finish(nil) }
        guard let completion else { return }
        // The observers are called on the same queue, so they run before the completion.
        task.afterObservers { completion(progress, error) }
      }
    ) { [self] in
      try await load(source, task)
    }
    return task
  }

  private func load(_ source: ByteSource, _ task: LoadBundleTask) async throws -> LoadBundleTaskProgress {
    let engine = try client().engine
    let database = database
    let (bundle, byteCount) = try await source.read(on: app.backend.surroundings.loop) { bytes throws(FirestoreError) in
      do throws(RPCStatus) {
        return (try BundleReader.read(bytes, database: database), bytes.count)
      } catch {
        throw FirestoreError(error)
      }
    }
    do throws(RPCStatus) {
      return task.finish(try await engine.load(bundle, byteCount: byteCount) { task.report($0) })
    } catch {
      throw FirestoreError(error)
    }
  }

  // MARK: Named queries

  /// The query with this name from a loaded bundle; `nil` if there is none, or if the client cannot be used.
  public func getQuery(named name: String) async -> (any Query)? {
    guard let query = try? await client().engine.namedQuery(name) else { return nil }
    return QueryDefinition(firestore: self, query: .success(query))
  }

  /// Starts `getQuery(named:)` and returns immediately.
  /// - Parameter completion: called on `FirestoreSettings.dispatchQueue`.
  public func getQuery(named name: String, completion: @escaping @Sendable ((any Query)?) -> Void) {
    complete({ (query: (any Query)??, _) in completion(query ?? nil) }) { [self] in await getQuery(named: name) }
  }
}

/// The bytes of a bundle: either data in memory, or a stream that is read on demand.
final class ByteSource: Sendable {
  private enum Origin {
    case data(Data)
    case stream(InputStream)
  }

  private let origin: Mutex<Origin>

  init(_ data: Data) { origin = Mutex(.data(data)) }
  init(_ stream: sending InputStream) { origin = Mutex(.stream(stream)) }

  /// The queue for reading and parsing, which can block or take a long time. Therefore they must not run on the threads
  /// of Swift's concurrency runtime.
  private static let queue = DispatchQueue(label: "hearth.reading", attributes: .concurrent)

  /// Passes all bytes to a closure on another thread, and returns its result.
  /// - Parameter loop: the thread of a simulation, which performs the read instead of the queue; `nil` to use the
  ///   queue.
  /// - Throws: the closure's error, or the stream's failure as `unknown`.
  func read<Content: Sendable>(
    on loop: (any WorkLoop)?, _ take: @escaping @Sendable ([UInt8]) throws(FirestoreError) -> Content
  ) async throws(FirestoreError) -> Content {
    typealias Answer = Result<Content, FirestoreError>
    let answer = await withCheckedContinuation { (continuation: CheckedContinuation<Answer, Never>) in
      CallbackQueue(Self.queue, on: loop).async { [self] in
        continuation.resume(returning: Answer { () throws(FirestoreError) in try take(try bytes()) })
      }
    }
    return try answer.get()
  }

  private func bytes() throws(FirestoreError) -> [UInt8] {
    try origin.withLock { origin -> Result<[UInt8], FirestoreError> in
      switch origin {
      case .data(let data): return .success([UInt8](data))
      case .stream(let stream): return Result { () throws(FirestoreError) in try Self.readAll(stream) }
      }
    }.get()
  }

  private static func readAll(_ stream: InputStream) throws(FirestoreError) -> [UInt8] {
    stream.open()
    defer { stream.close() }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    while true {
      let count = stream.read(&buffer, maxLength: buffer.count)
      if count == 0 { return bytes }
      guard count > 0 else {
        let reason = stream.streamError.map { ": \($0.localizedDescription)" } ?? "."
        throw FirestoreError(.unknown, "The stream could not be read\(reason)")
      }
      bytes += buffer[..<count]
    }
  }
}

/// The handle of an observer of a `LoadBundleTask`.
public typealias LoadBundleObserverHandle = Int

/// A task that loads a bundle. Loading continues even without observers.
public final class LoadBundleTask: Sendable {
  private typealias Observer = @Sendable (LoadBundleTaskProgress) -> Void

  private struct State {
    var observers: [(handle: LoadBundleObserverHandle, call: Observer)] = []
    var lastHandle = 0
    /// The latest progress. If loading fails, this progress is reported with the state `error`.
    var progress = BundleProgress(totalDocuments: 0, totalBytes: 0)
    var end: LoadBundleTaskProgress?
  }

  private let queue: CallbackQueue
  private let state = Mutex(State())

  init(queue: CallbackQueue) { self.queue = queue }

  /// Registers an observer of all further progress. The observer is called on `FirestoreSettings.dispatchQueue`. If
  /// loading has already ended, it is called once, with the final progress.
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

  /// Removes one observer, which is not called again. Does nothing if the handle is unknown.
  public func removeObserverWith(handle: LoadBundleObserverHandle) {
    state.withLock { state in state.observers.removeAll { $0.handle == handle } }
  }

  /// Removes all observers, which are not called again.
  public func removeAllObservers() { state.withLock { $0.observers = [] } }

  func report(_ progress: BundleProgress) {
    state.withLock { state in
      state.progress = progress
      callAll(LoadBundleTaskProgress(progress, .inProgress), state.observers.map(\.handle))
    }
  }

  /// Ends the task with this final progress, or with an error if `progress` is `nil`.
  /// - Returns: the final progress.
  @discardableResult
  func finish(_ progress: BundleProgress?) -> LoadBundleTaskProgress {
    state.withLock { state in
      let end = LoadBundleTaskProgress(progress ?? state.progress, progress == nil ? .error : .success)
      state.end = end
      callAll(end, state.observers.map(\.handle))
      return end
    }
  }

  /// Calls the closure after the observers have been called for all progress up to now.
  func afterObservers(_ call: @escaping @Sendable () -> Void) { queue.async(call) }

  private func callAll(_ progress: LoadBundleTaskProgress, _ handles: [LoadBundleObserverHandle]) {
    for handle in handles { queue.async { [self] in call(handle, progress) } }
  }

  /// Calls one observer, unless it has been removed. Runs on the callback queue, so an observer that other code on
  /// this queue has removed is never called again.
  private func call(_ handle: LoadBundleObserverHandle, _ progress: LoadBundleTaskProgress) {
    state.withLock { state in state.observers.first { $0.handle == handle }?.call }?(progress)
  }
}

/// The stage of loading a bundle.
public enum LoadBundleTaskState: Hashable, Sendable {
  /// An error ended the loading. No further progress follows.
  case error
  /// Loading continues.
  case inProgress
  /// The bundle is loaded. No further progress follows.
  case success
}

/// The progress of loading a bundle.
public struct LoadBundleTaskProgress: Hashable, Sendable {
  /// The number of the bundle's documents that the client has processed so far.
  public let documentsLoaded: Int
  /// The number of documents in the whole bundle; 0 if the bundle is unreadable.
  public let totalDocuments: Int
  /// The number of bytes of the bundle that the client has processed so far.
  public let bytesLoaded: Int
  /// The size of the whole bundle in bytes; 0 if the bundle is unreadable.
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
