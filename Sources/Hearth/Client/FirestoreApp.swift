// SPDX-License-Identifier: Apache-2.0

/// Which backend a `Firestore` talks to, and where it keeps its cache.
///
/// Takes the place of `FirebaseApp` in the official SDK. Equal apps share one `Firestore` per database.
public struct FirestoreApp: Hashable, Sendable {
  /// Tells the app from others of the process; caches that Hearth places are named after it.
  public var name: String
  /// The project that its databases belong to.
  public var projectID: String
  /// The server side.
  public var backend: Backend
  /// The directory of the durable cache; `nil` keeps the cache in memory, and the settings say so.
  public var cacheDirectory: String?

  /// - Parameters:
  ///   - cacheDirectory: without one, the cache lies beside an embedded backend's data; for a remote one under
  ///     `$XDG_DATA_HOME/hearth/apps`, by the names of app, server, project and database; and in memory for a backend in
  ///     memory. A cache belongs to the database that it was first opened for: named for another one, it is not used,
  ///     and `Firestore.persistenceFailure` says so.
  public init(
    name: String, projectID: String = "hearth", backend: Backend = .standard, cacheDirectory: String? = nil
  ) {
    self.name = name
    self.projectID = projectID
    self.backend = backend
    self.cacheDirectory = cacheDirectory ?? backend.cacheDirectory(ofApp: name)
  }

  /// The app of `Firestore.firestore()`: `Backend.standard`.
  public static let `default` = FirestoreApp(name: "__default__")
}
