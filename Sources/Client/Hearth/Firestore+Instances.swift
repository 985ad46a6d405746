// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization

/// The backend that a `Firestore` talks to, and the place of its cache.
///
/// Takes the place of `FirebaseApp` in the official SDK; that name is an alias of it. Equal apps share one `Firestore`
/// per database.
public struct FirestoreApp: Hashable, Sendable {
  /// Tells the app from others of the process; caches that Hearth places are named after it.
  public var name: String
  /// The project that its databases belong to.
  public var projectID: String
  /// The server side.
  public var backend: Backend
  /// The directory of the durable cache; `nil` keeps the cache in memory, and the settings say so.
  public var cacheDirectory: String?

  /// The source of the app's user, for servers with security rules; `nil` for calls with the credentials of `backend`.
  public var credentials: (any CredentialsProvider)? { users.credentials }
  /// The source of the proof, for servers, that calls come from the app; `nil` for none.
  public var appCheck: (any AppCheckProvider)? { users.appCheck }
  let users: AppUsers

  /// Makes an app; nothing is opened yet.
  /// - Parameters:
  ///   - cacheDirectory: the directory of the cache. Without one, the cache of an embedded backend lies beside its
  ///     data, that of a remote one under `$XDG_DATA_HOME/hearth/apps`, by the names of app, server, project and
  ///     database, and that of a backend in memory is in memory. A cache belongs to the database that it was first
  ///     opened for: for another one it is not used, and `Firestore.persistenceFailure` says so.
  ///   - credentials: the source of the app's user. Calls to a server are made in the user's name, in place of the
  ///     backend's own credentials; an embedded backend has no rules, so that users there only have queues of their
  ///     own.
  ///   - appCheck: proves to a server that calls come from the app.
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

  /// The app of `Firestore.firestore()` unless another one is configured: `Backend.standard`.
  public static let `default` = FirestoreApp(name: "__default__")
}

/// The SDK's name of `FirestoreApp`: `FirebaseApp.configure()`.
public typealias FirebaseApp = FirestoreApp

extension FirestoreApp {
  /// Makes `Firestore.firestore()` use an app from now on. Without a call it uses `FirestoreApp.default`, so that a
  /// program need not call this; instances that were returned before keep their app.
  public static func configure(_ app: FirestoreApp = .default) { Instances.app.withLock { $0 = app } }

  /// The app of `Firestore.firestore()`; never `nil`, optional as in the SDK.
  public static func app() -> FirestoreApp? { Instances.app.withLock { $0 } }
}

extension Firestore {
  /// The default database of the app that was configured last (`FirestoreApp.configure(_:)`), or of the default app.
  public static func firestore() -> Firestore { firestore(database: "(default)") }

  /// The default database of an app.
  public static func firestore(app: FirestoreApp) -> Firestore { firestore(app: app, database: "(default)") }

  /// A database of the app that was configured last, or of the default app.
  public static func firestore(database: String) -> Firestore {
    firestore(app: Instances.app.withLock { $0 }, database: database)
  }

  /// The instance for an app and a database: the same for every caller, until it is terminated.
  public static func firestore(app: FirestoreApp, database: String) -> Firestore {
    Instances.all.withLock { instances in
      let name = Instances.Name(app: app, database: database)
      if let instance = instances[name] { return instance }
      let instance = Firestore(app: app, databaseID: database)
      instances[name] = instance
      return instance
    }
  }

  /// Makes the instance for an app whose client is open already, with the settings that the client was opened with.
  package static func firestore(
    app: FirestoreApp, database: String, settings: FirestoreSettings, opened client: Client
  ) -> Firestore {
    let instance = Firestore(app: app, databaseID: database, settings, opened: client)
    Instances.all.withLock { $0[Instances.Name(app: app, database: database)] = instance }
    return instance
  }

  /// Forgets this instance, so that the next caller gets a new one.
  func forget() {
    Instances.all.withLock { instances in
      let name = Instances.Name(app: app, database: databaseID)
      if instances[name] === self { instances[name] = nil }
    }
  }
}

extension Firestore {
  /// Makes every client of this process, running now or opened later, write a line to standard error when it tries to
  /// connect, when that fails, when its connection changes, when a write is acknowledged or rejected, and when its
  /// cache cannot be used. The lines name databases, numbers of writes and errors, no documents.
  ///
  /// Without a call a client only reports that its backend has not answered for ten seconds, and how that outage goes
  /// on; with `false`, nothing.
  public static func enableLogging(_ logging: Bool) {
    log(into: logging ? ClientLog.standardError : nil)
  }

  /// The line with escapes for characters that could move a terminal's cursor, or reorder or hide text; it may quote a
  /// server.
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

  /// Gives a program's own log, such as a `Logger` of swift-log, the events of every client of this process, and its
  /// warnings, in place of standard error. `enableLogging(_:)` ends that.
  /// - Parameter write: receives each event, on any thread, one client's in order. It must not wait for the client.
  public static func enableLogging(to write: @escaping @Sendable (FirestoreLogEntry) -> Void) {
    log(into: write)
  }

  /// Sends the events of all clients to a closure.
  /// - Parameter sink: receives each event; `nil` ends logging.
  private static func log(into sink: (@Sendable (FirestoreLogEntry) -> Void)?) {
    ClientLog.sink.withLock { $0 = sink }
    ClientLog.warnings.withLock { $0 = sink }
    guard sink != nil else { return }
    for instance in Instances.all.withLock({ Array($0.values) }) { instance.openClient?.log.start() }
  }
}

/// The instances of this process. The SDK's API promises the same one to every caller.
private enum Instances {
  struct Name: Hashable {
    var app: FirestoreApp
    var database: String
  }

  static let all = Mutex<[Name: Firestore]>([:])
  /// The app of `Firestore.firestore()`.
  static let app = Mutex(FirestoreApp.default)
}
