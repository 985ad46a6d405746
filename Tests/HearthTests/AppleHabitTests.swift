// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hearth
import Testing

/// What programs for Apple's SDK are full of, word for word.
@Suite(.timeLimit(.minutes(10)))
struct AppleHabitTests {
  private func database() -> Firestore {
    .firestore(app: FirestoreApp(name: UUID().uuidString, backend: .inMemory.patient))
  }

  @Test("Cache sizes accept NSNumber and any integer")
  func sizes() {
    let settings = FirestoreSettings()
    settings.cacheSettings = PersistentCacheSettings(sizeBytes: 100 * 1024 * 1024 as NSNumber)
    #expect(settings.cacheSettings as? PersistentCacheSettings == PersistentCacheSettings(sizeBytes: 104_857_600))
    settings.cacheSettings = MemoryCacheSettings(
      garbageCollectorSettings: MemoryLRUGCSettings(sizeBytes: 5 * 1024 * 1024 as NSNumber))
    #expect(settings.cacheSizeBytes == 5_242_880)
    settings.cacheSettings = PersistentCacheSettings(sizeBytes: FirestoreCacheSizeUnlimited as NSNumber)
    #expect(settings.cacheSizeBytes == FirestoreCacheSizeUnlimited)
    let megabytes = 20
    #expect(PersistentCacheSettings(sizeBytes: megabytes * 1_000_000).sizeBytes == 20_000_000)
    #expect(PersistentCacheSettings(sizeBytes: UInt64.max).sizeBytes == .max)
  }

  @Test("An error is caught by code, as FirestoreErrorCode, and as NSError of its domain")
  func errors() async throws {
    let db = database()
    func update() async throws { try await db.document("cities/none").updateData(["a": 1]) }
    var caught: [String] = []

    do {
      try await update()
    } catch FirestoreErrorCode.permissionDenied {
      caught.append("wrong code")
    } catch FirestoreErrorCode.notFound {
      caught.append("code")
    }
    do {
      try await update()
    } catch let error as FirestoreErrorCode where error.code == .notFound {
      caught.append("FirestoreErrorCode")
    }
    do {
      try await update()
    } catch let error as NSError where error.domain == "elsewhere" {
      caught.append("wrong domain")
    } catch let error as NSError where error.domain == FirestoreErrorDomain {
      caught.append("NSError")
      #expect(error.code == FirestoreErrorCode.notFound.rawValue)
      #expect(FirestoreErrorCode.Code(rawValue: error.code) == .notFound)
      #expect(error.localizedDescription.contains("cities/none"))
    }
    do {
      try await update()
    } catch {
      if let error = error as NSError?, error.domain == FirestoreErrorDomain { caught.append("NSError?") }
      switch FirestoreErrorCode.Code(rawValue: error._code) {
      case .notFound: caught.append("switch")
      default: break
      }
    }

    #expect(caught == ["code", "FirestoreErrorCode", "NSError", "NSError?", "switch"])
    try await db.terminate()
  }

  @Test("An NSError of Firestore's domain converts back, and other NSErrors do not")
  func bridgedBack() {
    let error: any Error = NSError(
      domain: FirestoreErrorDomain, code: 5, userInfo: [NSLocalizedDescriptionKey: "no such document"])
    #expect(error as? FirestoreError == FirestoreError(.notFound, "no such document"))
    #expect(NSError(domain: "elsewhere", code: 5) as any Error as? FirestoreError == nil)
    #expect(NSError(domain: FirestoreErrorDomain, code: 99) as any Error as? FirestoreError == nil)
  }

  @Test("Configuring FirebaseApp is optional")
  func app() throws {
    FirebaseApp.configure()
    let db = Firestore.firestore()
    #expect(db === Firestore.firestore(app: try #require(FirebaseApp.app())))
    #expect(FirebaseApp.app() == .default)
  }

  @Test("Equal queries are equal in sets and as dictionary keys")
  func sets() {
    let (db, other) = (database(), database())
    let cities = db.collection("cities")
    let large = cities.whereField("population", isGreaterThan: 1_000_000)
    let queries: Set = [
      cities.definition, large.definition, db.collection("cities").definition,
      db.collection("cities").whereField("population", isGreaterThan: 1_000_000).definition,
      other.collection("cities").definition,
    ]
    #expect(queries.count == 3)
    #expect(queries.contains(large.definition))
    let query: any Query = large.definition
    #expect(query == large)
  }

  @Test("Timestamps compare with compare(_:)")
  func timestamps() {
    let (early, late) = (Timestamp(seconds: 1, nanoseconds: 5), Timestamp(seconds: 1, nanoseconds: 6))
    #expect(early.compare(late) == .orderedAscending)
    #expect(late.compare(early) == .orderedDescending)
    #expect(early.compare(Timestamp(seconds: 1, nanoseconds: 5)) == .orderedSame)
  }

  @Test("Types that are objects in Apple's SDK have isEqual(_:) and copy()")
  func objects() throws {
    let db = database()
    let city = db.document("cities/SF")
    #expect(city.isEqual(db.collection("cities").document("SF")))
    #expect(!city.isEqual(nil) && !city.isEqual("cities/SF"))
    #expect(GeoPoint(latitude: 1, longitude: 2).isEqual(GeoPoint(latitude: 1, longitude: 2)))
    #expect(!FieldValue.delete().isEqual(FieldValue.serverTimestamp()))
    let query: any Query = db.collection("cities").limit(to: 2)
    #expect(query.isEqual(db.collection("cities").limit(to: 2)) && !query.isEqual(db.collection("cities")))
    #expect((query.copy() as! any Query) == query)
    #expect((Timestamp(seconds: 1, nanoseconds: 2).copy() as! Timestamp).seconds == 1)

    let settings = db.settings
    let copy = settings.copy() as! FirestoreSettings
    #expect(copy.isEqual(settings))
    copy.host = "example.com"
    #expect(!copy.isEqual(settings))
    let options = TransactionOptions()
    options.maxAttempts = 7
    #expect((options.copy() as! TransactionOptions).maxAttempts == 7)
    #expect(options.isEqual(options.copy()) && !options.isEqual(TransactionOptions()))
  }

  @Test("The current value of each observable can be read without a loop")
  func current() async throws {
    let db = database()
    #expect(try await db.onlineState.current.isNetworkEnabled)
    try await db.disableNetwork()
    #expect(try await db.onlineState.current.reason == .networkDisabled)
    #expect(try await db.pendingWrites.current.isEmpty)
    let update = try db.document("cities/none").enqueueUpdate(["a": 1])
    try await update.local
    #expect(try await db.pendingWrites.current.map(\.paths) == [["cities/none"]])

    try await db.enableNetwork()
    await #expect(throws: FirestoreError.self) { try await update.acknowledged }
    #expect(try await db.pendingWrites.current.isEmpty)
    #expect(try await db.rejectedWrites.current.map(\.error.code) == [.notFound])
    #expect(try await db.localIndexUpdates.current.isEmpty)

    let updates = db.pendingWrites
    try await db.terminate()
    for state in [updates, db.pendingWrites] {
      await #expect {
        try await state.current
      } throws: {
        FirestoreErrorCode.failedPrecondition ~= $0
      }
    }
  }
}
