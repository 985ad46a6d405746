// SPDX-License-Identifier: Apache-2.0
import Synchronization

extension Firestore {
  /// The default database of the default app.
  public static func firestore() -> Firestore { firestore(app: .default) }

  public static func firestore(app: FirestoreApp) -> Firestore { firestore(app: app, database: "(default)") }

  public static func firestore(database: String) -> Firestore { firestore(app: .default, database: database) }

  /// One instance per app and database, until it is terminated.
  public static func firestore(app: FirestoreApp, database: String) -> Firestore {
    Instances.all.withLock { instances in
      let name = Instances.Name(app: app, database: database)
      if let instance = instances[name] { return instance }
      let instance = Firestore(app: app, databaseID: database)
      instances[name] = instance
      return instance
    }
  }

  /// Makes room for a new instance.
  func forget() {
    Instances.all.withLock { instances in
      let name = Instances.Name(app: app, database: databaseID)
      if instances[name] === self { instances[name] = nil }
    }
  }
}

/// The instances of this process: the SDK's API promises the same one to every caller.
private enum Instances {
  struct Name: Hashable {
    var app: FirestoreApp
    var database: String
  }

  static let all = Mutex<[Name: Firestore]>([:])
}
