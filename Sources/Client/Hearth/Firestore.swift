// SPDX-License-Identifier: Apache-2.0
import Dispatch
import FirestoreLocal
import FirestoreModel
import FirestoreSync
import Synchronization

/// A Cloud Firestore database: references to its data, and control of the client's network use.
///
/// Types and functions of this module that have a name from the SDK behave as the SDK's reference describes
/// (<https://firebase.google.com/docs/reference/swift/firebasefirestore/api/reference>). Their comments describe
/// additions and differences.
///
/// The first read, write or listener opens the cache and connects to the backend. It uses the settings at that time.
public final class Firestore: Sendable {
  /// The app, which determines the backend and the location of the cache.
  public let app: FirestoreApp
  let database: DatabaseID
  /// The tasks that call the completions of `terminate` and `clearPersistence`. These tasks outlive the client.
  let lifecycleTasks: CallbackTasks
  private let state: Mutex<State>

  private struct State {
    var settings = FirestoreSettings()
    /// The error that the last assignment to `settings` caused.
    var refusal: FirestoreError?
    var phase = Phase.closed
  }

  private enum Phase {
    /// The instance is not in use yet. This state ends with the first use, or with `terminate()`.
    case closed
    case open(Client)
    /// `terminate()` was called. If a client was open, it is closing or closed.
    case terminated(Client?)
  }

  /// - Parameters:
  ///   - settings: the settings to use.
  ///   - client: the client, if it is already open; otherwise `nil`.
  init(app: FirestoreApp, databaseID: String, _ settings: FirestoreSettings? = nil, opened client: Client? = nil) {
    self.app = app
    database = DatabaseID(project: app.projectID, database: databaseID)
    lifecycleTasks = CallbackTasks(on: app.backend.surroundings.loop)
    state = Mutex(
      State(settings: settings ?? FirestoreSettings(), phase: client.map { .open($0) } ?? .closed))
    client?.log.start()
  }

  /// The id of the database: `(default)`, or the id of another database of the project.
  public var databaseID: String { database.database }

  // MARK: Settings

  /// A copy of the settings. Assigning settings copies them, too. The property reports the kind of cache that is in
  /// use. This is a memory cache if the app's cache is in memory or, after the first use, if the durable cache cannot
  /// be used (`persistenceFailure`).
  ///
  /// Assign settings before the first use, with a cache size of at least 1 000 000 bytes. An invalid assignment changes
  /// nothing, but every call fails with the reason until the next valid assignment. After the first use, only assigning
  /// equal settings is valid.
  public var settings: FirestoreSettings {
    get {
      var values = state.withLock { $0.settings }.values
      if let client = openClient {
        values.isDurable = client.engine.isDurable
      } else if app.cacheDirectory == nil {
        values.isDurable = false
      }
      switch app.backend.resolved(FirestoreSettings(values)) {
      case .embedded, .inMemory: values.usedHost = "embedded"
      case .server(let server): values.usedHost = server.address
      case .datastore: break
      }
      return FirestoreSettings(values)
    }
    set {
      let values = newValue.values
      let problem = Result { () throws(FirestoreError) in try values.cachePlan() }
      state.withLock { state in
        if case .failure(let error) = problem {
          state.refusal = error
        } else if case .closed = state.phase {
          state.settings = FirestoreSettings(values)
          state.refusal = nil
        } else if state.settings.values.isSatisfied(with: values) {
          state.refusal = nil
        } else {
          state.refusal = .failedPrecondition(
            "Firestore has already been started. Its settings can no longer be changed. Set them before any other call."
          )
        }
      }
    }
  }

  /// The callback queue in the settings. Does not use the property `settings`, because copying the settings reads the
  /// environment.
  var dispatchQueue: DispatchQueue { state.withLock { $0.settings }.values.dispatchQueue }

  /// Makes every call fail with this error until settings are assigned.
  func refuse(_ reason: FirestoreError) { state.withLock { $0.refusal = reason } }

  // MARK: References

  /// A reference to a collection.
  /// - Parameter collectionPath: slash-separated, with an odd number of segments.
  public func collection(_ collectionPath: String) -> CollectionReference {
    CollectionReference(firestore: self, path: ReferencePath.collection(collectionPath, below: .root))
  }

  /// A reference to a document.
  /// - Parameter documentPath: slash-separated, with an even number of segments.
  public func document(_ documentPath: String) -> DocumentReference {
    DocumentReference(firestore: self, key: ReferencePath.document(documentPath, below: .root))
  }

  /// A query over all collections with this id, at any level.
  public func collectionGroup(_ collectionID: String) -> any Query {
    QueryDefinition(firestore: self, collectionGroup: collectionID)
  }

  /// An empty batch of writes, to be committed together.
  public func batch() -> WriteBatch { WriteBatch(firestore: self) }

  // MARK: The client

  /// Opens the client on first use.
  package func client() throws(FirestoreError) -> Client {
    // The client is opened under the lock, so that concurrent callers get the same one.
    let result = state.withLock { state -> Result<Client, FirestoreError> in
      if let refusal = state.refusal { return .failure(refusal) }
      switch state.phase {
      case .open(let client): return .success(client)
      case .terminated: return .failure(.terminated)
      case .closed:
        return Result { () throws(FirestoreError) in
          let client = try open(state.settings.values)
          state.phase = .open(client)
          client.log.start()
          // A simulation causes its outages intentionally, so it does not warn of them.
          if app.backend.surroundings.loop == nil { client.outages.watch(client.engine) }
          return client
        }
      }
    }
    return try result.get()
  }

  private func open(_ settings: FirestoreSettings.Storage) throws(FirestoreError) -> Client {
    for (name, what) in [(database.project, "project id"), (database.database, "database id")] {
      guard !name.isEmpty, !name.utf8.contains(UInt8(ascii: "/")) else {
        throw .invalidArgument("A \(what) must not be empty or contain a slash, but it is \"\(name)\".")
      }
    }
    let plan = try settings.cachePlan()
    let resolved = app.backend.resolved(FirestoreSettings(settings))
    let users = app.users.authorization()
    let changes = app.credentials.flatMap { credentials in users.map { UserChanges(credentials, $0) } }
    let backend = try resolved.open(for: database, as: users, appCheck: app.users.appCheckToken)
    let surroundings = app.backend.surroundings
    // A simulation cannot be watched: its time does not wait for watchers.
    let inspection = surroundings.loop == nil ? inspectionPlan(settings, resolved) : nil
    return Client(
      storeConfiguration(for: resolved, backend.identity, plan),
      datastore: inspection?.disturbing(backend.datastore, clock: surroundings.clock) ?? backend.datastore,
      users: changes, in: surroundings, inspectedAs: inspection)
  }

  /// Calls the engine and returns its result. Converts the engine's errors to the API's errors.
  func ask<Answer>(
    _ question: (SyncEngine) async throws(RPCStatus) -> Answer
  ) async throws(FirestoreError) -> Answer {
    let engine = try client().engine
    do throws(RPCStatus) { return try await question(engine) } catch { throw FirestoreError(error) }
  }

  /// Marks this instance as terminated.
  /// - Returns: the client to terminate, if there is one. A second call returns the same client.
  func markTerminated() -> Client? {
    state.withLock { state in
      switch state.phase {
      case .closed:
        state.phase = .terminated(nil)
        return nil
      case .open(let client):
        state.phase = .terminated(client)
        return client
      case .terminated(let client): return client
      }
    }
  }

  /// The running client; `nil` if none is running.
  var openClient: Client? {
    state.withLock { state in
      if case .open(let client) = state.phase { return client }
      return nil
    }
  }

  /// Whether a client is running.
  var isOpen: Bool { openClient != nil }
}
