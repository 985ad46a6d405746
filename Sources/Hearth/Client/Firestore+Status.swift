// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreRemote
import FirestoreSync

/// Whether the client is connected, since when, and if not, why and what it does about it.
public struct OnlineState: Hashable, Sendable {
  public enum Phase: Hashable, Sendable {
    /// Connecting, or nothing to connect for.
    case unknown
    case online
    case offline
  }

  public let phase: Phase
  public let isNetworkEnabled: Bool
  public let since: Timestamp
  /// The last failure of a stream; `nil` while online.
  public let reason: FirestoreError?
  /// When the next attempt begins; `nil` unless one is being waited for.
  public let nextRetry: Timestamp?
}

/// A write that the backend has not acknowledged.
public struct PendingWrite: Hashable, Sendable, Identifiable {
  public enum State: Hashable, Sendable {
    /// The network is disabled.
    case held
    case queued
    case inFlight
    /// Waiting for another attempt.
    case backoff(until: Timestamp)
  }

  public let id: Int64
  /// The documents it changes, in order.
  public let paths: [String]
  public let writtenAt: Timestamp
  public let byteCount: Int
  public let attempts: Int
  public let state: State
  public let lastError: FirestoreError?
}

extension Firestore {
  /// The connection now and after each change; a consumer that falls behind gets the newest state. Ends with the
  /// client, or at once if it cannot be used.
  public var onlineState: StatusUpdates<OnlineState> {
    StatusUpdates(status: (try? client())?.engine.status() ?? .finished) { OnlineState($0) }
  }

  /// The queue of writes, oldest first, now and after each change; a consumer that falls behind gets the newest state.
  public var pendingWrites: StatusUpdates<[PendingWrite]> {
    StatusUpdates(status: (try? client())?.engine.status() ?? .finished) { $0.pendingWrites.map(PendingWrite.init) }
  }

  /// Why the durable cache is not in use and this session's data is kept in memory: another process holds it, it cannot
  /// be written, or it was damaged (and moved aside). `nil` if it is in use, or if memory was asked for.
  public var persistenceFailure: FirestoreError? {
    get async throws {
      var updates = try client().engine.status().makeAsyncIterator()
      return await updates.next()?.storageFallback.map { FirestoreError.failedPrecondition($0) }
    }
  }

  /// Takes a write out of the queue: its local change is undone and the write fails with `cancelled`.
  /// - Throws: `failedPrecondition` for a write that is already on its way, `notFound` for one that is not there.
  public func cancelPendingWrite(_ id: PendingWrite.ID) async throws {
    let engine = try client().engine
    do { try await engine.cancelWrite(BatchID(id)) } catch { throw FirestoreError(error) }
  }
}

/// One aspect of a client's status: an element now and one for each change of it. Unread elements give way to newer
/// ones. For one consumer.
public struct StatusUpdates<Element: Equatable & Sendable>: AsyncSequence, Sendable {
  let status: AsyncStream<EngineStatus>
  let aspect: @Sendable (EngineStatus) -> Element

  public struct Iterator: AsyncIteratorProtocol {
    var base: AsyncStream<EngineStatus>.Iterator
    let aspect: @Sendable (EngineStatus) -> Element
    var last: Element?

    public mutating func next() async -> Element? { await next(isolation: nil) }

    public mutating func next(isolation actor: isolated (any Actor)?) async throws(Never) -> Element? {
      while let status = await base.next(isolation: actor) {
        let element = aspect(status)
        if element == last { continue }
        last = element
        return element
      }
      return nil
    }
  }

  public func makeAsyncIterator() -> Iterator { Iterator(base: status.makeAsyncIterator(), aspect: aspect) }
}

extension AsyncStream where Element: Sendable {
  fileprivate static var finished: AsyncStream { AsyncStream { $0.finish() } }
}

extension OnlineState {
  fileprivate init(_ status: EngineStatus) {
    switch status.onlineState {
    case .unknown: phase = .unknown
    case .online: phase = .online
    case .offline: phase = .offline
    }
    isNetworkEnabled = status.isNetworkEnabled
    since = Timestamp(status.since)
    let error = phase == .online ? nil : status.watch.lastError ?? status.write.lastError
    reason = error.map { FirestoreError($0) }
    nextRetry = [status.watch.state, status.write.state].compactMap(\.backoffEnd).min().map { Timestamp($0) }
  }
}

extension StreamStatus.State {
  fileprivate var backoffEnd: FirestoreModel.Timestamp? {
    if case .backoff(let until) = self { until } else { nil }
  }
}

extension PendingWrite {
  fileprivate init(_ write: FirestoreSync.PendingWrite) {
    id = write.id.rawValue
    paths = write.mutations.map(\.key.path.text)
    writtenAt = Timestamp(write.localWriteTime)
    byteCount = write.byteCount
    attempts = write.attempts
    state =
      switch write.state {
      case .held: .held
      case .queued: .queued
      case .inFlight: .inFlight
      case .backoff(let until): .backoff(until: Timestamp(until))
      }
    lastError = write.lastError.map { FirestoreError($0) }
  }
}
