// SPDX-License-Identifier: Apache-2.0
import ClientTesting
import FirestoreBackend
import FirestoreModel
import FirestoreSQLite
import FirestoreTesting
import Foundation
import Hearth
import Testing

/// Where a client's cache is, whose it is, and what the client says about it.
@Suite(.timeLimit(.minutes(10)))
struct StorageTests {
  /// A directory that goes with the value.
  private let folder = TemporaryFolder()

  private func app(_ backend: Backend, cache: String? = nil) -> FirestoreApp {
    FirestoreApp(name: UUID().uuidString, projectID: "p", backend: backend.patient, cacheDirectory: cache)
  }

  private func queue(_ path: String, _ app: FirestoreApp) async throws {
    let db = Firestore.firestore(app: app)
    try await db.disableNetwork()
    try await db.document(path).enqueueData(["n": 1]).local
    #expect(try await db.persistenceFailure == nil)
    try await db.terminate()
  }

  /// Leaves a document in the data and in the cache.
  private func fill(_ app: FirestoreApp) async throws {
    let db = Firestore.firestore(app: app)
    try await db.document("cities/LA").setData([:])
    #expect(try await db.collection("cities").getDocuments().count == 1)
    try await db.terminate()
  }

  /// Deletes the data as soon as this process has released it, a moment after the last client has ended.
  private func deleteData() async throws {
    while DirectoryLock.isHeld(folder.path) { await Task.yield() }
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where name != "cache" {
      try FileManager.default.removeItem(atPath: "\(folder.path)/\(name)")
    }
  }

  @Test("A write queued for one backend is not sent to another with the same cache")
  func foreignCache() async throws {
    let cache = folder.path + "/cache"
    try await queue("cities/SF", app(.embedded(directory: folder.path + "/a"), cache: cache))

    let other = Firestore.firestore(app: app(.embedded(directory: folder.path + "/b"), cache: cache))
    let failure = try #require(try await other.persistenceFailure)
    #expect(failure.code == .failedPrecondition)
    #expect(failure.message.contains(cache) && failure.message.contains("another cache directory"))
    #expect(!other.settings.isPersistenceEnabled && other.settings.cacheSettings is MemoryCacheSettings)
    #expect(other.persistentCacheIndexManager == nil)
    try await other.document("cities/LA").setData([:])
    #expect(try await other.collection("cities").getDocuments(source: .server).documents.map(\.documentID) == ["LA"])
    try await other.terminate()

    let own = Firestore.firestore(app: app(.embedded(directory: folder.path + "/a"), cache: cache))
    try await own.waitForPendingWrites()
    #expect(try await own.document("cities/SF").getDocument(source: .server).exists)
    try await own.terminate()
  }

  @Test("Writes queued for deleted data are not sent to the data that replaced it")
  func replacedData() async throws {
    let app = app(.embedded(directory: folder.path))
    try await queue("cities/SF", app)
    try await deleteData()
    do {
      let left = Firestore.firestore(app: app)
      #expect(try await left.persistenceFailure?.code == .failedPrecondition)
      #expect(try await left.collection("cities").getDocuments(source: .server).isEmpty)
      try await left.terminate()
      try await left.clearPersistence()
    }

    try await fill(app)
    try await deleteData()
    let second = Firestore.firestore(app: app)
    #expect(try await second.persistenceFailure == nil)
    #expect(try await second.collection("cities").getDocuments(source: .cache).isEmpty)
    try await second.terminate()
  }

  @Test("A remote backend's cache is durable by default and separate for each server")
  func remote() async throws {
    let reserved = try ReservedPort()
    func client(_ port: Int) -> Firestore {
      let app = app(.remote(.emulatorOwner), cache: folder.path)
      let db = Firestore.firestore(app: app)
      let settings = FirestoreSettings()
      (settings.host, settings.isSSLEnabled) = ("127.0.0.1:\(port)", false)
      db.settings = settings
      return db
    }
    let db = client(reserved.number)
    #expect(db.settings.isPersistenceEnabled)
    try await db.document("cities/SF").enqueueData([:]).local
    #expect(try await db.persistenceFailure == nil)
    #expect(db.settings.isPersistenceEnabled && db.persistentCacheIndexManager != nil)
    try await db.terminate()

    let again = client(reserved.number)
    #expect(try await again.cacheStatus().pendingWriteCount == 1)
    try await again.terminate()
    let other = client(1)
    #expect(try await other.cacheStatus().pendingWriteCount == 0)
    #expect(try await other.persistenceFailure?.code == .failedPrecondition)
    try await other.terminate()
    withExtendedLifetime(reserved) {}
  }

  @Test("The default cache location depends on app, server, project and database")
  func places() throws {
    func place(_ backend: Backend, cache: String? = nil, database: String = "(default)", host: String = "h:1") throws
      -> String
    {
      let app = FirestoreApp(name: "a.b", projectID: "p", backend: backend, cacheDirectory: cache)
      let settings = FirestoreSettings()
      settings.host = host
      let db = Firestore.firestore(app: app, database: database)
      return try #require(db.cacheDirectory(for: backend.resolved(settings, environment: [:])))
    }
    #expect(try place(.embedded(directory: "/d")) == "/d/cache/a%2Eb/p/%28default%29")
    #expect(try place(.embedded(directory: "/d"), database: "default") == "/d/cache/a%2Eb/p/default")
    #expect(try place(.remote()).hasSuffix("/hearth/apps/a%2Eb/@h%3A1/p/%28default%29"))
    #expect(try place(.remote(), host: "H:2").hasSuffix("/@h%3A2/p/%28default%29"))
    #expect(try place(.remote(), cache: "/c") == "/c/p/%28default%29")
    let memory = Firestore.firestore(app: FirestoreApp(name: "a", backend: .inMemory))
    #expect(memory.cacheDirectory(for: .inMemory(name: nil)) == nil)
  }

  @Test("An in-memory backend has an in-memory cache, as the settings show")
  func memory() async throws {
    let db = Firestore.firestore(app: app(.inMemory))
    #expect(!db.settings.isPersistenceEnabled)
    #expect(db.settings.cacheSizeBytes == 104_857_600)
    // What was read can be assigned.
    db.settings = db.settings
    #expect(try await db.persistenceFailure == nil)
    #expect(!db.settings.isPersistenceEnabled && db.persistentCacheIndexManager == nil)
    db.settings = db.settings
    try await db.document("cities/SF").setData([:])
    try await db.terminate()
  }

  @Test("An unusable cache location or a damaged cache is reported, and the client works")
  func failures() async throws {
    let nowhere = Firestore.firestore(app: app(.inMemory, cache: "/proc/hearth"))
    #expect(try await nowhere.persistenceFailure?.code == .unimplemented)
    try await nowhere.document("cities/SF").setData([:])
    try await nowhere.terminate()

    let app = app(.inMemory, cache: folder.path)
    try await queue("cities/SF", app)
    let file = folder.path + "/p/%28default%29/cache.sqlite3"
    try Data(repeating: 0xFF, count: 8192).write(to: URL(fileURLWithPath: file))
    let damaged = Firestore.firestore(app: app)
    #expect(try await damaged.persistenceFailure?.code == .dataLoss)
    #expect(damaged.settings.isPersistenceEnabled)
    try await damaged.document("cities/SF").setData([:])
    try await damaged.terminate()
  }

  @Test(
    "Locked data fails every call, naming the locking process, until it is released")
  func heldElsewhere() async throws {
    let directory = folder.path
    let holder = LocalBackendHolder(directory)
    let db = Firestore.firestore(app: app(.embedded(directory: directory)))
    let document = db.document("cities/SF")
    let calls: [(String, () async throws -> Void)] = [
      ("getDocument", { _ = try await document.getDocument() }),
      ("getDocument from cache", { _ = try await document.getDocument(source: .cache) }),
      ("getDocuments", { _ = try await db.collection("cities").getDocuments() }),
      ("setData", { try await document.setData([:]) }),
      ("enqueueData", { _ = try document.enqueueData([:]) }),
      ("transaction", { try await db.runTransaction { _ in } }),
      ("snapshots", { for try await _ in document.snapshots {} }),
    ]
    for (name, call) in calls {
      let error = await #expect(throws: FirestoreError.self, "\(name)") { try await call() }
      #expect(error?.code == .failedPrecondition)
      for part in [directory, "process \(getpid())", "another directory"] {
        #expect(error?.message.contains(part) == true, "\(error?.message ?? "")")
      }
    }
    let events = Events<QueryEvent>()
    db.collection("cities").addSnapshotListener(events.listener)
    #expect(code(of: await events.next()?.error) == .failedPrecondition)

    holder.release()
    try await document.setData([:])
    try await db.terminate()
  }

  @Test("A directory given to the library is the same data as --data of the command")
  func sameFolder() async throws {
    let (new, old) = (folder.path + "/new", folder.path + "/old")
    #expect(Backend.dataFolder(of: new) == new)
    try await fill(app(.embedded(directory: new)))
    #expect(LocalBackend.exists(in: new) && Backend.dataFolder(of: new) == new)

    while DirectoryLock.isHeld(new) { await Task.yield() }
    try FileManager.default.createDirectory(atPath: old + "/backend", withIntermediateDirectories: true)
    for name in try FileManager.default.contentsOfDirectory(atPath: new) where name.hasPrefix("backend.sqlite3") {
      try FileManager.default.copyItem(atPath: "\(new)/\(name)", toPath: "\(old)/backend/\(name)")
    }
    #expect(Backend.dataFolder(of: old) == old + "/backend")
    let other = Firestore.firestore(app: app(.embedded(directory: old)))
    #expect(try await other.document("cities/LA").getDocument(source: .server).exists)
    try await other.terminate()
    #expect(!LocalBackend.exists(in: old) && Backend.doubleData(in: old) == nil)
    for name in try FileManager.default.contentsOfDirectory(atPath: new) where name.hasPrefix("backend.sqlite3") {
      try FileManager.default.copyItem(atPath: "\(new)/\(name)", toPath: "\(old)/\(name)")
    }
    #expect(Backend.dataFolder(of: old) == old)
    #expect(Backend.doubleData(in: old)?.contains("hearth copy data:\(old)/backend data:\(old)") == true)
    let standard: String = StandardDirectories.data(ProcessInfo.processInfo.environment)
    #expect(Backend.dataFolder(of: standard) == standard + "/backend")
  }

  @Test("An app's options include its project, as in Apple's SDK")
  func appOptions() {
    let app = FirestoreApp(name: "a", projectID: "demo-a", backend: .inMemory)
    #expect(Firestore.firestore(app: app).app.options.projectID == "demo-a")
  }

  @Test("The emulator environment variable applies only if no backend is given")
  func environment() {
    let settings = FirestoreSettings()
    func place(_ backend: Backend, _ environment: [String: String]) -> String {
      "\(backend.resolved(settings, environment: environment))"
    }
    let emulator = ["FIRESTORE_EMULATOR_HOST": "127.0.0.1:9"]
    #expect(FirestoreApp.default.backend == .standard)
    #expect(place(.standard, emulator) == "server 127.0.0.1:9")
    #expect(place(.standard, ["HOME": "/home/ada"]) == "embedded /home/ada/.local/share/hearth")
    #expect(place(.standard, ["FIRESTORE_EMULATOR_HOST": "", "XDG_DATA_HOME": "/d"]) == "embedded /d/hearth")
    #expect(place(.embedded(directory: "/d"), emulator) == "embedded /d")
    #expect(place(.inMemory, emulator) == "memory")
    #expect(place(.remote(), emulator) == "server 127.0.0.1:9")
    settings.host = "Example.com"
    #expect(place(.remote(), emulator) == "server example.com:443")
  }

  @Test("Without HOME the data is in the home directory of the user's account")
  func homeless() {
    for environment in [[:], ["HOME": ""], ["HOME": "relative"]] {
      #expect(StandardDirectories.data(environment).hasPrefix("/"))
    }
  }

  @Test("Project and database names map to distinct names inside the cache directory")
  func names() {
    let names = ["", ".", "..", "a/b", "a%2Fb", "default", "(default)", "a", "A", "ä"]
    let escaped = names.map { PathComponent.escaped($0) }
    #expect(Set(escaped).count == names.count)
    #expect(escaped.allSatisfy { !$0.isEmpty && !$0.contains("/") && !$0.contains(".") })
  }

  @Test("Credentials are not sent without TLS, and the error names the setting")
  func plainText() async throws {
    let db = Firestore.firestore(app: app(.remote(.token("secret")), cache: folder.path))
    let settings = FirestoreSettings()
    settings.host = "127.0.0.1:1"
    settings.isSSLEnabled = false
    db.settings = settings
    let error = await #expect(throws: FirestoreError.self) { try await db.document("cities/SF").setData([:]) }
    #expect(error?.code == .failedPrecondition)
    #expect(error?.message.contains("allowsInsecureCredentials") == true && error?.message.contains("secret") == false)

    settings.allowsInsecureCredentials = true
    db.settings = settings
    try await db.document("cities/SF").enqueueData([:]).local
    try await db.terminate()
  }
}

/// Holds a backend's directory as another process would that does not share it.
private final class LocalBackendHolder {
  private var backend: LocalBackend?

  init(_ directory: String) {
    backend = try? LocalBackend(
      BackendConfiguration(location: .directory(directory), now: { FirestoreModel.Timestamp(seconds: 1_700_000_000) }))
  }

  func release() { backend = nil }
}
