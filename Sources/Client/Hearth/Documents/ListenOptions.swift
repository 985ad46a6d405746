// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState

/// The source of a listener's data.
public enum ListenSource: Hashable, Sendable {
  /// The cache at once, then the backend.
  case `default`
  /// The cache and local writes only: the backend is not asked, but documents that it sends for other listeners are
  /// shown.
  case cache
}

/// The source of a listener's data and the changes that are events.
public struct SnapshotListenOptions: Hashable, Sendable {
  /// The source of the listener's data.
  public let source: ListenSource
  /// Whether a change of nothing but `SnapshotMetadata` is an event.
  public let includeMetadataChanges: Bool

  /// Makes options with the default source and without events for metadata alone.
  public init() { self.init(source: .default, includeMetadataChanges: false) }

  init(source: ListenSource, includeMetadataChanges: Bool) {
    self.source = source
    self.includeMetadataChanges = includeMetadataChanges
  }

  /// The same options with another source.
  public func withSource(_ source: ListenSource) -> SnapshotListenOptions {
    SnapshotListenOptions(source: source, includeMetadataChanges: includeMetadataChanges)
  }

  /// The same options with or without events for metadata alone.
  /// - Parameter include: whether a change of nothing but `SnapshotMetadata` is an event.
  public func withIncludeMetadataChanges(_ include: Bool) -> SnapshotListenOptions {
    SnapshotListenOptions(source: source, includeMetadataChanges: include)
  }

  var engineOptions: ListenerOptions {
    ListenerOptions(includeMetadataChanges: includeMetadataChanges, source: source == .cache ? .cache : .default)
  }
}

/// The options of a document listener before `SnapshotListenOptions` took their place; kept for older sources.
public struct DocumentListenOptions: Hashable, Sendable {
  var options = SnapshotListenOptions()

  /// Makes options without events for metadata alone.
  public init() {}

  /// The same options with or without events for changes of nothing but `SnapshotMetadata`.
  public func includeMetadataChanges(_ include: Bool) -> DocumentListenOptions {
    DocumentListenOptions(options.withIncludeMetadataChanges(include))
  }

  private init(_ options: SnapshotListenOptions) { self.options = options }
}

/// The options of a query listener before `SnapshotListenOptions` took their place; kept for older sources.
public struct QueryListenOptions: Hashable, Sendable {
  var options = SnapshotListenOptions()

  /// Makes options without events for metadata alone.
  public init() {}

  /// The same options, with events for changes of `QuerySnapshot.metadata` if asked for.
  public func includeQueryMetadataChanges(_ include: Bool) -> QueryListenOptions {
    QueryListenOptions(options.withIncludeMetadataChanges(options.includeMetadataChanges || include))
  }

  /// The same options, with events for changes of the documents' metadata if asked for. Both kinds come together since
  /// the options were united.
  public func includeDocumentMetadataChanges(_ include: Bool) -> QueryListenOptions {
    QueryListenOptions(options.withIncludeMetadataChanges(options.includeMetadataChanges || include))
  }

  /// The same options with or without events for changes of any metadata.
  public func includeMetadataChanges(_ include: Bool) -> QueryListenOptions {
    QueryListenOptions(options.withIncludeMetadataChanges(include))
  }

  private init(_ options: SnapshotListenOptions) { self.options = options }
}

/// The treatment of snapshots of a sequence that were not read yet. None of the policies loses a change.
public enum SnapshotBufferingPolicy: Hashable, Sendable {
  /// Unread snapshots become one, which shows the newest state and all changes since the snapshot that was read last.
  case merged
  /// Each unread snapshot is kept, as in the SDKs, as long as there are no more than this many; then the newest are
  /// merged.
  case separate(limit: Int)

  var capacity: Int {
    switch self {
    case .merged: 1
    case .separate(let limit): limit
    }
  }
}
