// SPDX-License-Identifier: Apache-2.0

/// Which backend a `Firestore` talks to, and where it keeps its cache.
///
/// Takes the place of `FirebaseApp` in the official SDK. Equal apps share one `Firestore` per database.
public struct FirestoreApp: Hashable, Sendable {
  public var name: String
  public var projectID: String
  public var backend: Backend
  /// The directory of the durable cache; `nil` keeps the cache in memory whatever the settings say.
  public var cacheDirectory: String?

  /// - Parameters:
  ///   - cacheDirectory: without one, the cache lies beside an embedded backend's data, and in memory for the others.
  public init(
    name: String, projectID: String = "hearth", backend: Backend = .embedded, cacheDirectory: String? = nil
  ) {
    self.name = name
    self.projectID = projectID
    self.backend = backend
    self.cacheDirectory = cacheDirectory ?? backend.cacheDirectory(ofApp: name)
  }

  /// The app of `Firestore.firestore()`: the embedded backend, durable under `$XDG_DATA_HOME/hearth`.
  public static let `default` = FirestoreApp(name: "__default__")
}
