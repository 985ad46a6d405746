// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization

/// The backend of a `Firestore`, and the location of its cache.
///
/// This type replaces the official SDK's `FirebaseApp`. In Hearth, `FirebaseApp` is an alias for this type. Equal apps
/// share one `Firestore` per database.
public struct FirestoreApp: Hashable, Sendable {
  /// The name of the app, which must be unique in the process. Hearth uses it in the paths of caches.
  public var name: String
  /// The id of the project that contains the app's databases.
  public var projectID: String
  /// The backend to which the app's clients connect.
  public var backend: Backend

  /// The options of the app, under the names that the SDK uses.
  public struct Options: Hashable, Sendable {
    /// The id of the project that contains the app's databases. Never `nil`; optional as in the SDK.
    public let projectID: String?
  }

  /// The app's options, which allow the SDK's notation `db.app.options.projectID`.
  public var options: Options { Options(projectID: projectID) }

  /// The directory of the durable cache; `nil` for a cache in memory. In that case, `Firestore.settings` also specifies
  /// a memory cache.
  public var cacheDirectory: String?

  /// The source of the app's user, for servers with security rules. If `nil`, calls use the credentials of `backend`.
  public var credentials: (any CredentialsProvider)? { users.credentials }
  /// The source of App Check tokens for servers; `nil` to send none.
  public var appCheck: (any AppCheckProvider)? { users.appCheck }
  let users: AppUsers

  /// Creates an app, without opening its databases or caches.
  /// - Parameters:
  ///   - cacheDirectory: the directory of the cache. By default, the cache of an embedded backend is in the backend's
  ///     directory. The cache of a remote backend is under `$XDG_DATA_HOME/hearth/apps`, in a path with the names of
  ///     the app, server, project and database. The cache of an in-memory backend is in memory. A cache belongs to the
  ///     first database that opened it. For any other database, `Firestore` works without this cache, and
  ///     `persistenceFailure` contains the error.
  ///   - credentials: the source of the app's user. Calls to a server use this user's token instead of the backend's
  ///     credentials. An embedded backend has no rules, so the only effect there is that each user has a separate write
  ///     queue.
  ///   - appCheck: the source of App Check tokens for servers.
  public init(
    name: String, projectID: String = "hearth", backend: Backend = .standard, cacheDirectory: String? = nil,
    credentials: (any CredentialsProvider)? = nil, appCheck: (any AppCheckProvider)? = nil
  ) {
    self.name = name
    self.projectID = projectID
    self.backend = backend
    self.cacheDirectory = cacheDirectory ?? backend.cacheDirectory(ofApp: name)
    users = AppUsers(credentials: credentials, appCheck: appCheck)
  }

  /// The default app, which `Firestore.firestore()` uses with `Backend.standard`.
  public static let `default` = FirestoreApp(name: "__default__")
}

/// The SDK's name for `FirestoreApp`, as in `FirebaseApp.configure()`.
public typealias FirebaseApp = FirestoreApp

extension FirestoreApp {
  /// Makes `Firestore.firestore()` use an app from now on. This call is optional; by default, `FirestoreApp.default` is
  /// used. Existing instances keep their app.
  public static func configure(_ app: FirestoreApp = .default) { Instances.app.withLock { $0 = app } }

  /// The app that `Firestore.firestore()` uses. Never `nil`; optional as in the SDK.
  public static func app() -> FirestoreApp? { Instances.app.withLock { $0 } }
}

extension Firestore {
  /// The default database of the last configured app (`FirestoreApp.configure(_:)`), or of the default app if none was
  /// configured.
  public static func firestore() -> Firestore { firestore(database: "(default)") }

  /// The default database of an app.
  public static func firestore(app: FirestoreApp) -> Firestore { firestore(app: app, database: "(default)") }

  /// A database of the last configured app, or of the default app if none was configured.
  public static func firestore(database: String) -> Firestore {
    firestore(app: Instances.app.withLock { $0 }, database: database)
  }

  /// The instance for an app and a database: all callers get the same instance, until it is terminated.
  public static func firestore(app: FirestoreApp, database: String) -> Firestore {
    Instances.all.withLock { instances in
      let name = Instances.Name(app: app, database: database)
      if let instance = instances[name] { return instance }
      let instance = Firestore(app: app, databaseID: database)
      instances[name] = instance
      return instance
    }
  }

  /// Creates the instance for an app whose client is already open, with the settings of that client.
  package static func firestore(
    app: FirestoreApp, database: String, settings: FirestoreSettings, opened client: Client
  ) -> Firestore {
    let instance = Firestore(app: app, databaseID: database, settings, opened: client)
    Instances.all.withLock { $0[Instances.Name(app: app, database: database)] = instance }
    return instance
  }

  /// Removes this instance from the list of instances, so that the next caller of `firestore(…)` gets a new one.
  func forget() {
    Instances.all.withLock { instances in
      let name = Instances.Name(app: app, database: databaseID)
      if instances[name] === self { instances[name] = nil }
    }
  }
}

extension Firestore {
  /// Makes every existing and future client of this process log to standard error. A client logs connection attempts
  /// and their failures, changes of its connection, and acknowledged and rejected writes. It also logs if a cache
  /// cannot be used. The lines contain database names, write numbers and errors, but no documents.
  ///
  /// If you never call this function, a client logs only outages: when its backend has not answered for ten seconds,
  /// when the reason changes, and when the outage ends. If you pass `false`, clients log nothing.
  public static func enableLogging(_ logging: Bool) {
    log(into: logging ? ClientLog.standardError : nil)
  }

  /// Escapes the characters of a line that could move a terminal's cursor, or reorder or hide text. Needed because the
  /// line may quote a server, which is not trusted.
  package static func printable(_ line: String) -> String {
    var view = String.UnicodeScalarView()
    for scalar in line.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator:
        view.append(contentsOf: scalar.escaped(asASCII: true).unicodeScalars)
      default: view.append(scalar)
      }
    }
    return String(view)
  }

  /// Sends the events and warnings of every client of this process to a program's own log, such as a `Logger` of
  /// swift-log, instead of standard error. A later call of `enableLogging(_:)` replaces the closure.
  /// - Parameter write: receives each event, on any thread. The events of each client arrive in order. The closure must
  ///   not wait for the client.
  public static func enableLogging(to write: @escaping @Sendable (FirestoreLogEntry) -> Void) {
    log(into: write)
  }

  /// Sends the events of all clients to a closure.
  /// - Parameter sink: receives each event; `nil` to stop logging.
  private static func log(into sink: (@Sendable (FirestoreLogEntry) -> Void)?) {
    ClientLog.sink.withLock { $0 = sink }
    ClientLog.warnings.withLock { $0 = sink }
    guard sink != nil else { return }
    for instance in Instances.all.withLock({ Array($0.values) }) { instance.openClient?.log.start() }
  }
}

/// The `Firestore` instances of this process. As in the SDK, all callers share the instance for an app and a database.
private enum Instances {
  struct Name: Hashable {
    var app: FirestoreApp
    var database: String
  }

  static let all = Mutex<[Name: Firestore]>([:])
  /// The app that `Firestore.firestore()` uses.
  static let app = Mutex(FirestoreApp.default)
}
