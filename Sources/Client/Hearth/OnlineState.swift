// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreSync

/// The client's connection: its phase, the start of the phase and, while not online, the reason and the time of the
/// next attempt.
public struct OnlineState: Hashable, Sendable {
  /// The phase of the connection as the client knows it (SDK: OnlineState).
  public enum Phase: String, Hashable, Sendable, CaseIterable {
    /// The client is connecting, or does not need a connection.
    case unknown
    /// The backend has answered on the open connection.
    case online
    /// The backend is unreachable, or the network is disabled: reads use the cache, and writes wait.
    case offline
  }

  /// The reason why the client is not online. Compare it with the constants.
  public struct Reason: Hashable, Sendable, CustomStringConvertible {
    private let reason: ConnectionReason

    fileprivate init(_ reason: ConnectionReason) { self.reason = reason }

    /// No listener needs a connection, and no write is pending.
    public static let idle = Reason(.idle)
    /// The first answer has not arrived yet.
    public static let connecting = Reason(.connecting)
    /// The program called `disableNetwork()`.
    public static let networkDisabled = Reason(.networkDisabled)
    /// The cache cannot be written, so the client does not request data that it would have to store.
    public static let cacheNotWritable = Reason(.storageFailed)
    /// The last attempt or connection failed with this error.
    public static func failed(_ error: FirestoreError) -> Reason { Reason(.failed(RPCStatus(error))) }
    /// The backend did not answer within ten seconds (SDK: ONLINE_STATE_TIMEOUT_MS).
    public static let noAnswer = Reason(.noAnswer)
    /// Another client that shares the cache has the connection (`PersistentTabManager.multiple`).
    public static let elsewhere = Reason(.elsewhere)

    /// A short human-readable text, such as `the server does not answer`.
    public var description: String { reason.description }

    /// The error of `failed`; `nil` for other reasons.
    public var error: FirestoreError? { if case .failed(let status) = reason { FirestoreError(status) } else { nil } }
  }

  /// The phase: unknown, online or offline.
  public let phase: Phase
  /// Whether the client may use the network (`disableNetwork()`).
  public let isNetworkEnabled: Bool
  /// The start of `phase`, by this device's clock.
  public let since: Timestamp
  /// The reason why the client is not online; `nil` while online.
  public let reason: Reason?
  /// The time of the next attempt; `nil` unless the client waits for one.
  public let nextRetry: Timestamp?
}

extension Firestore {
  /// The connection now and after each change; a slow consumer receives the newest state. The sequence ends with the
  /// client, or immediately if the client cannot be used. `await onlineState.current` is the present connection.
  public var onlineState: StatusUpdates<OnlineState> { statusUpdates { OnlineState($0) } }

  /// Connects now instead of waiting for the next attempt. Also retries to write a failed cache. Does nothing if no
  /// attempt is scheduled, or while the network is disabled.
  public func retryNow() async throws { await (try client()).engine.retryNow() }
}

extension OnlineState {
  fileprivate init(_ status: ClientStatus) {
    phase = Phase(rawValue: status.onlineState.rawValue) ?? .unknown
    isNetworkEnabled = status.isNetworkEnabled
    since = Timestamp(status.since)
    reason = status.reason.map { Reason($0) }
    nextRetry = status.nextRetry.map { Timestamp($0) }
  }
}

/// One aspect of a client's status, such as the queue of writes: its present state (`current`), or a sequence with the
/// present state and one element for each change. Newer elements replace unread ones.
public struct StatusUpdates<Element: Equatable & Sendable>: AsyncSequence, Sendable {
  /// The client, or the reason why it cannot be opened.
  let client: Result<Client, FirestoreError>
  let aspect: @Sendable (ClientStatus) -> Element

  /// The present state.
  /// - Throws: the reason why the client cannot be used, or `cancelled` if the task was canceled.
  public var current: Element {
    get async throws {
      var updates = try client.get().engine.status().makeAsyncIterator()
      if let status = await updates.next() { return aspect(status) }
      throw Task.isCancelled ? FirestoreError(.cancelled, "The task was canceled.") : .terminated
    }
  }

  /// Reads the elements one after another.
  public struct Iterator: AsyncIteratorProtocol {
    var base: AsyncStream<ClientStatus>.Iterator
    let aspect: @Sendable (ClientStatus) -> Element
    var last: Element?

    /// The present state first, then the state after the next change; `nil` when the client has ended.
    public mutating func next() async -> Element? { await next(isolation: nil) }

    /// Like `next()`, on the caller's actor.
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

  /// A new reader, beginning with the present state.
  public func makeAsyncIterator() -> Iterator {
    let status = (try? client.get())?.engine.status() ?? AsyncStream { $0.finish() }
    return Iterator(base: status.makeAsyncIterator(), aspect: aspect)
  }
}

extension Firestore {
  func statusUpdates<Element>(_ aspect: @escaping @Sendable (ClientStatus) -> Element) -> StatusUpdates<Element> {
    StatusUpdates(client: Result { () throws(FirestoreError) in try client() }, aspect: aspect)
  }
}
