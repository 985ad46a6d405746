// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState

/// The source of a listener's data.
public enum ListenSource: Hashable, Sendable {
  /// First the cache, immediately, and then the backend.
  case `default`
  /// Only the cache and local writes. The client does not query the backend for this listener, but the listener shows
  /// documents that the client receives for other listeners.
  case cache
}

/// The source of a listener's data and the changes that cause events.
public struct SnapshotListenOptions: Hashable, Sendable {
  /// The source of the listener's data.
  public let source: ListenSource
  /// Whether a change of only `SnapshotMetadata` causes an event.
  public let includeMetadataChanges: Bool

  /// Creates options with the default source and without events for changes that concern only metadata.
  public init() { self.init(source: .default, includeMetadataChanges: false) }

  init(source: ListenSource, includeMetadataChanges: Bool) {
    self.source = source
    self.includeMetadataChanges = includeMetadataChanges
  }

  /// A copy of the options with another source.
  public func withSource(_ source: ListenSource) -> SnapshotListenOptions {
    SnapshotListenOptions(source: source, includeMetadataChanges: includeMetadataChanges)
  }

  /// A copy of the options, with or without events for changes that concern only metadata.
  /// - Parameter include: whether a change of only `SnapshotMetadata` causes an event.
  public func withIncludeMetadataChanges(_ include: Bool) -> SnapshotListenOptions {
    SnapshotListenOptions(source: source, includeMetadataChanges: include)
  }

  var engineOptions: ListenerOptions {
    ListenerOptions(includeMetadataChanges: includeMetadataChanges, source: source == .cache ? .cache : .default)
  }
}

/// The older form of a document listener's options, for existing source code. `SnapshotListenOptions` replaces it.
public struct DocumentListenOptions: Hashable, Sendable {
  var options = SnapshotListenOptions()

  /// Creates options without events for changes that concern only metadata.
  public init() {}

  /// A copy of the options, with or without events for changes of only `SnapshotMetadata`.
  public func includeMetadataChanges(_ include: Bool) -> DocumentListenOptions {
    DocumentListenOptions(options.withIncludeMetadataChanges(include))
  }

  private init(_ options: SnapshotListenOptions) { self.options = options }
}

/// The older form of a query listener's options, for existing source code. `SnapshotListenOptions` replaces it.
public struct QueryListenOptions: Hashable, Sendable {
  var options = SnapshotListenOptions()

  /// Creates options without events for changes that concern only metadata.
  public init() {}

  /// A copy of the options. If `include` is `true`, the copy enables events for changes of any metadata; otherwise, it
  /// is unchanged.
  public func includeQueryMetadataChanges(_ include: Bool) -> QueryListenOptions {
    QueryListenOptions(options.withIncludeMetadataChanges(options.includeMetadataChanges || include))
  }

  /// A copy of the options. If `include` is `true`, the copy enables events for changes of any metadata; otherwise, it
  /// is unchanged.
  public func includeDocumentMetadataChanges(_ include: Bool) -> QueryListenOptions {
    QueryListenOptions(options.withIncludeMetadataChanges(options.includeMetadataChanges || include))
  }

  /// A copy of the options, with or without events for changes of any metadata.
  public func includeMetadataChanges(_ include: Bool) -> QueryListenOptions {
    QueryListenOptions(options.withIncludeMetadataChanges(include))
  }

  private init(_ options: SnapshotListenOptions) { self.options = options }
}

/// Determines what happens to a sequence's unread snapshots. No policy loses a change.
public enum SnapshotBufferingPolicy: Hashable, Sendable {
  /// Unread snapshots are merged into one snapshot. It contains the newest state and all changes since the last
  /// snapshot that was read.
  case merged
  /// Up to `limit` unread snapshots are kept separately, as in the SDKs. Beyond this limit, the newest snapshots are
  /// merged.
  case separate(limit: Int)

  var capacity: Int {
    switch self {
    case .merged: 1
    case .separate(let limit): limit
    }
  }
}
