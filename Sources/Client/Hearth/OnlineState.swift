// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreSync

/// The client's connection: its phase and when this phase began. While the client is not online, also the reason and
/// the time of the next attempt.
public struct OnlineState: Hashable, Sendable {
  /// The phase of the connection, as far as the client knows (SDK: OnlineState).
  public enum Phase: String, Hashable, Sendable, CaseIterable {
    /// The client is connecting, or does not need a connection.
    case unknown
    /// The backend has sent an answer on the open connection.
    case online
    /// The backend is unreachable, or the network is disabled. Reads use the cache, and writes wait.
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
    /// The cache cannot be written. The client requests no data, because it could not store the data.
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
  /// Whether the client may use the network. `disableNetwork()` makes this `false`.
  public let isNetworkEnabled: Bool
  /// The time at which `phase` began, by this device's clock.
  public let since: Timestamp
  /// The reason why the client is not online; `nil` while the client is online.
  public let reason: Reason?
  /// The time of the next attempt to connect; `nil` if the client is not waiting for one.
  public let nextRetry: Timestamp?
}

extension Firestore {
  /// The state of the connection, now and after each change. A slow consumer receives the newest state. The sequence
  /// ends with the client, or immediately if the client cannot be used. To read the state once, use `await
  /// onlineState.current`.
  public var onlineState: StatusUpdates<OnlineState> { statusUpdates { OnlineState($0) } }

  /// Connects now instead of waiting for the time of the next attempt. If writing to the cache failed, also tries to
  /// write again. Does nothing if no attempt is scheduled, or while the network is disabled.
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

/// One aspect of a client's status, such as the queue of writes. Read its current state with `current`, or iterate over
/// the sequence, which yields the current state and then one element for each change. If you read slowly, a newer
/// element replaces the unread one.
public struct StatusUpdates<Element: Equatable & Sendable>: AsyncSequence, Sendable {
  /// The client, or the reason why it cannot be opened.
  let client: Result<Client, FirestoreError>
  let aspect: @Sendable (ClientStatus) -> Element

  /// The current state.
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

    /// Returns the current state first, and then the state after the next change; `nil` when the client has ended.
    public mutating func next() async -> Element? { await next(isolation: nil) }

    /// Like `next()`, but runs on the caller's actor.
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

  /// Creates a reader that begins with the current state.
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
