// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreSync

/// Whether the client is connected, since when, and if not, why and what it does about it.
public struct OnlineState: Hashable, Sendable {
  public enum Phase: String, Hashable, Sendable, CaseIterable {
    /// Connecting, or nothing to connect for.
    case unknown
    case online
    case offline
  }

  /// Why the client is not online.
  public enum Reason: Hashable, Sendable {
    /// No listener needs a connection, and nothing waits to be sent.
    case idle
    /// The first answer is still awaited.
    case connecting
    /// `disableNetwork()`.
    case networkDisabled
    /// The cache cannot be written, so nothing may arrive that would have to be stored.
    case cacheNotWritable
    /// The last failure of a connection.
    case failed(FirestoreError)
    /// The backend did not answer within ten seconds.
    case noAnswer
  }

  public let phase: Phase
  public let isNetworkEnabled: Bool
  public let since: Timestamp
  /// `nil` while online.
  public let reason: Reason?
  /// When the next attempt begins; `nil` unless one is being waited for.
  public let nextRetry: Timestamp?
}

extension OnlineState.Reason: CustomStringConvertible {
  public var description: String {
    switch self {
    case .idle: "nothing to connect for"
    case .connecting: "connecting"
    case .networkDisabled: "the network is disabled"
    case .cacheNotWritable: "the cache cannot be written"
    case .failed(let error): error.description
    case .noAnswer: "the backend does not answer"
    }
  }
}

extension Firestore {
  /// The connection now and after each change; a consumer that falls behind gets the newest state. Ends with the
  /// client, or at once if it cannot be used.
  public var onlineState: StatusUpdates<OnlineState> { statusUpdates { OnlineState($0) } }

  /// Connects now instead of waiting for the next attempt, and writes a cache that failed. Changes nothing if nothing
  /// is being waited for, or while the network is disabled.
  public func retryNow() async throws { await (try client()).engine.retryNow() }
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
    reason = status.reason.map { Reason($0) }
    nextRetry = status.nextRetry.map { Timestamp($0) }
  }
}

extension OnlineState.Reason {
  fileprivate init(_ reason: ConnectionReason) {
    self =
      switch reason {
      case .idle: .idle
      case .connecting: .connecting
      case .networkDisabled: .networkDisabled
      case .storageFailed: .cacheNotWritable
      case .failed(let status): .failed(FirestoreError(status))
      case .noAnswer: .noAnswer
      }
  }
}
