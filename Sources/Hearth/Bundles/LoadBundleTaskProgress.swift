// SPDX-License-Identifier: Apache-2.0
import FirestoreSync

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
