// SPDX-License-Identifier: Apache-2.0
import FirestoreSync

/// Where the loading of a bundle stands.
public enum LoadBundleTaskState: Hashable, Sendable {
  /// Ended by an error. No further progress comes.
  case error
  case inProgress
  /// All is loaded. No further progress comes.
  case success
}

/// How far the loading of a bundle is.
public struct LoadBundleTaskProgress: Hashable, Sendable {
  public let documentsLoaded: Int
  /// 0 if the bundle could not be read.
  public let totalDocuments: Int
  public let bytesLoaded: Int
  /// 0 if the bundle could not be read.
  public let totalBytes: Int
  public let state: LoadBundleTaskState

  init(_ progress: BundleProgress, _ state: LoadBundleTaskState) {
    documentsLoaded = progress.documents
    totalDocuments = progress.totalDocuments
    bytesLoaded = progress.bytes
    totalBytes = progress.totalBytes
    self.state = state
  }
}
