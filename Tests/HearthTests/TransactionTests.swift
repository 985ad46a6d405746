// SPDX-License-Identifier: Apache-2.0
import ClientTesting
import Foundation
import Hearth
import Synchronization
import Testing

/// Transactions: optimistic, tried again on conflicts, and never offline.
@Suite(.timeLimit(.minutes(10)))
struct TransactionTests {
  private let backend = SharedBackend()

  /// Runs the test with two clients of one backend.
  private func withClients(
    _ test: nonisolated(nonsending) (_ db: Firestore, _ other: Firestore) async throws -> Void
  ) async throws {
    let (db, other) = (backend.client(), backend.client())
    let result = await Result { try await test(db, other) }
    try await db.terminate()
    try await other.terminate()
    try result.get()
  }

  @Test("Apple's transaction block reads, writes and passes its value to the completion")
  func blockWithCompletion() async throws {
    try await withClients { db, _ async throws in
      let city = db.document("cities/SF")
      try await city.setData(["population": 860_000])
      let results = Events<Int?>()
      db.runTransaction(
        { (transaction, errorPointer) -> Any? in
          let document: any DocumentSnapshot
          do {
            try document = transaction.getDocument(city)
          } catch let fetchError as NSError {
            errorPointer?.pointee = fetchError
            return nil
          }
          guard let population = document.data()?["population"] as? Int else { return nil }
          transaction.updateData(["population": population + 1], forDocument: city)
          return population + 1
        },
        completion: { value, error in
          #expect(error == nil)
          results.send(value as? Int)
        })
      #expect(await results.next() == 860_001)
      #expect(try await city.getDocument(source: .server).get("population") as? Int == 860_001)
    }
  }

  @Test("Apple's transaction block can be awaited, with options, and its error is thrown")
  func awaitedBlock() async throws {
    try await withClients { db, _ async throws in
      let city = db.document("cities/SF")
      let value = try await db.runTransaction { transaction, _ in
        transaction.setData(["name": "San Francisco"], forDocument: city)
        return "done"
      }
      #expect(value as? String == "done")
      #expect(try await city.getDocument(source: .server).get("name") as? String == "San Francisco")

      let runs = Mutex(0)
      let options = TransactionOptions()
      options.maxAttempts = 3
      await #expect {
        _ = try await db.runTransaction(with: options) { transaction, errorPointer in
          runs.withLock { $0 += 1 }
          transaction.deleteDocument(city)
          errorPointer?.pointee = NSError(domain: "AppErrorDomain", code: -7)
          return nil
        }
      } throws: { ($0 as NSError).domain == "AppErrorDomain" && ($0 as NSError).code == -7 }
      #expect(runs.withLock { $0 } == 1)
      #expect(try await city.getDocument(source: .server).exists)
    }
  }

  @Test("A document that changes between read and commit makes the block run again")
  func conflict() async throws {
    try await withClients { db, other async throws in
      let city = db.document("cities/SF")
      try await city.setData(["visits": 1])
      let attempts = Mutex(0)
      let visits = try await db.runTransaction { transaction in
        let attempt = attempts.withLock { attempts in
          attempts += 1
          return attempts
        }
        let visits = try await transaction.getDocument(city).get("visits") as? Int ?? 0
        if attempt == 1 { try await other.document("cities/SF").updateData(["visits": 10]) }
        transaction.updateData(["visits": visits + 1], forDocument: city)
        return visits + 1
      }
      #expect(visits == 11)
      #expect(attempts.withLock { $0 } == 2)
      #expect(try await city.getDocument(source: .server).get("visits") as? Int == 11)
    }
  }

  @Test("A transaction is retried if a document that it read was changed or created")
  func conflictOnReads() async throws {
    try await withClients { db, other async throws in
      let (read, written) = (db.document("cities/read"), db.document("cities/written"))
      try await read.setData(["open": true])
      let attempts = Mutex(0)
      try await db.runTransaction { transaction in
        let attempt = attempts.withLock { attempts in
          attempts += 1
          return attempts
        }
        let isOpen = try await transaction.getDocument(read).get("open") as? Bool
        let exists = try await transaction.getDocument(written).exists
        if attempt == 1 { try await other.document("cities/read").setData(["open": false]) }
        if attempt == 2 { try await other.document("cities/written").setData([:]) }
        transaction.setData(["open": isOpen ?? true, "existed": exists], forDocument: written)
      }
      #expect(attempts.withLock { $0 } == 3)
      let result = try await written.getDocument(source: .server)
      #expect(result.get("open") as? Bool == false)
      #expect(result.get("existed") as? Bool == true)
    }
  }

  @Test("Conflicts end after five or the given number of attempts, with growing delays")
  func attempts() async throws {
    try await withClients { db, other async throws in
      let attempts = Mutex(0)
      @Sendable func alwaysInConflict(_ transaction: Transaction) async throws {
        let city = db.document("cities/SF")
        _ = try await transaction.getDocument(city)
        let attempt = attempts.withLock { attempts in
          attempts += 1
          return attempts
        }
        try await other.document("cities/SF").setData(["attempt": attempt])
        transaction.setData(["mine": true], forDocument: city)
      }
      await #expect { try await db.runTransaction(alwaysInConflict) } throws: {
        code(of: $0) == .failedPrecondition || code(of: $0) == .alreadyExists
      }
      #expect(attempts.withLock { $0 } == 5)
      #expect(backend.clock.delays.count == 4)

      let options = TransactionOptions()
      options.maxAttempts = 2
      await #expect(throws: FirestoreError.self) {
        try await db.runTransaction(with: options, alwaysInConflict)
      }
      #expect(attempts.withLock { $0 } == 7)
      options.maxAttempts = 0
      await #expect { try await db.runTransaction(with: options, alwaysInConflict) } throws: {
        code(of: $0) == .invalidArgument
      }
      #expect(attempts.withLock { $0 } == 7)
    }
  }

  @Test("Transactions of one client on one document run in turn without delay or loss")
  func turns() async throws {
    try await withClients { db, _ async throws in
      let counter = db.document("counters/a")
      try await counter.setData(["n": 0])
      let rounds = 2
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<10 {
          group.addTask {
            for _ in 0..<rounds {
              try await db.runTransaction { transaction in
                let n = try await transaction.getDocument(counter).get("n") as? Int ?? 0
                transaction.updateData(["n": n + 1], forDocument: counter)
              }
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(try await counter.getDocument(source: .server).get("n") as? Int == 10 * rounds)
      #expect(backend.clock.delays == [])
    }
  }

  @Test("A nested transaction on the same document completes")
  func nested() async throws {
    try await withClients { db, _ async throws in
      let counter = db.document("counters/a")
      try await counter.setData(["n": 0])
      let isFirst = Mutex(true)
      try await db.runTransaction { transaction in
        let n = try await transaction.getDocument(counter).get("n") as? Int ?? 0
        let runsAnother = isFirst.withLock { first in
          defer { first = false }
          return first
        }
        if runsAnother {
          try await db.runTransaction { inner in
            let n = try await inner.getDocument(counter).get("n") as? Int ?? 0
            inner.updateData(["n": n + 1], forDocument: counter)
          }
        }
        transaction.updateData(["n": n + 10], forDocument: counter)
      }
      #expect(try await counter.getDocument(source: .server).get("n") as? Int == 11)
    }
  }

  @Test("A transient Firestore error in the block causes a retry, and other errors do not")
  func errorsOfTheBlock() async throws {
    try await withClients { db, _ async throws in
      for (thrown, expected) in [(FirestoreErrorCode.aborted, 5), (.unavailable, 5), (.notFound, 1), (.cancelled, 1)] {
        let attempts = Mutex(0)
        await #expect {
          try await db.runTransaction { _ in
            attempts.withLock { $0 += 1 }
            throw FirestoreError(thrown, "The block ends.")
          }
        } throws: { code(of: $0) == thrown }
        #expect(attempts.withLock { $0 } == expected, "\(thrown.name)")
      }
    }
  }

  @Test("Reading after a write fails in both forms of the transaction block")
  func readAfterWrite() async throws {
    try await withClients { db, _ async throws in
      let city = db.document("cities/SF")
      await #expect {
        try await db.runTransaction { transaction in
          transaction.setData([:], forDocument: city)
          _ = try await transaction.getDocument(city)
        }
      } throws: { code(of: $0) == .invalidArgument }
      await #expect {
        _ = try await db.runTransaction { transaction, errorPointer in
          transaction.setData([:], forDocument: city)
          do { _ = try transaction.getDocument(city) } catch { errorPointer?.pointee = error as NSError }
          return nil
        }
      } throws: { ($0 as NSError).code == FirestoreErrorCode.invalidArgument.rawValue }
      #expect(try await city.getDocument(source: .server).exists == false)
    }
  }

  @Test("Writes see earlier writes, and invalid updates fail the commit")
  func writes() async throws {
    try await withClients { db, other async throws in
      let city = db.document("cities/SF")
      try await db.runTransaction { transaction in
        _ = try await transaction.getDocument(city)
        transaction.setData(["a": 1, "b": 1], forDocument: city)
          .setData(["b": 2], forDocument: city, merge: true)
          .setData(["c": 3, "d": 4], forDocument: city, mergeFields: ["c"])
          .updateData(["a": FieldValue.increment(Int64(4))], forDocument: city)
      }
      let stored = try await city.getDocument(source: .server).data() as? [String: Int]
      #expect(stored == ["a": 5, "b": 2, "c": 3])

      await #expect {
        try await db.runTransaction { transaction in
          _ = try await transaction.getDocument(db.document("cities/none"))
          transaction.updateData(["a": 1], forDocument: db.document("cities/none"))
        }
      } throws: { code(of: $0) == .invalidArgument }
      await #expect {
        try await db.runTransaction { transaction in
          transaction.setData(["a": Bundle.main], forDocument: city).deleteDocument(city)
        }
      } throws: { code(of: $0) == .invalidArgument }
      await #expect {
        try await db.runTransaction { $0.deleteDocument(other.document("cities/SF")) }
      } throws: { code(of: $0) == .invalidArgument }
      #expect(try await city.getDocument(source: .server).exists)
    }
  }

  @Test("Concurrent transactions lose no updates")
  func concurrent() async throws {
    try await withClients { db, other in
      // Each conflict is somebody else's success, so that five attempts are enough for five.
      try await withThrowingTaskGroup { group in
        for number in 0..<5 {
          group.addTask {
            let counter = (number.isMultiple(of: 2) ? db : other).document("counters/visits")
            try await counter.firestore.runTransaction { transaction in
              let visits = try await transaction.getDocument(counter).get("count") as? Int ?? 0
              transaction.setData(["count": visits + 1], forDocument: counter)
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(try await db.document("counters/visits").getDocument(source: .server).get("count") as? Int == 5)
    }
  }

  @Test("An unreachable backend is tried five times")
  func unreachable() async throws {
    let unreachable = Backend.datastore(UnavailableDatastore(because: "It is away."), clock: backend.clock)
    let db = Firestore.firestore(app: FirestoreApp(name: UUID().uuidString, backend: unreachable))
    let attempts = Mutex(0)
    await #expect {
      try await db.runTransaction { transaction in
        attempts.withLock { $0 += 1 }
        transaction.setData([:], forDocument: db.document("cities/SF"))
      }
    } throws: { code(of: $0) == .unavailable }
    #expect(attempts.withLock { $0 } == 5)
    try await db.terminate()
  }

  @Test("Offline, a transaction is unavailable immediately and does not run its block")
  func offline() async throws {
    try await withClients { db, _ async throws in
      try await db.disableNetwork()
      let runs = Mutex(0)
      await #expect {
        try await db.runTransaction { _ in runs.withLock { $0 += 1 } }
      } throws: { code(of: $0) == .unavailable }
      #expect(runs.withLock { $0 } == 0)
      #expect(backend.clock.delays.isEmpty)
    }
  }

  @Test("A transaction is unusable after its block or its client's termination")
  func afterTheEnd() async throws {
    try await withClients { db, _ async throws in
      let city = db.document("cities/SF")
      let kept = try await db.runTransaction { $0 }
      await #expect { _ = try await kept.getDocument(city) } throws: { code(of: $0) == .failedPrecondition }

      try await db.terminate()
      await #expect { _ = try await kept.getDocument(city) } throws: { code(of: $0) == .failedPrecondition }
      await #expect { try await db.runTransaction { _ in } } throws: { code(of: $0) == .failedPrecondition }
      let errors = Events<FirestoreErrorCode.Code>()
      db.runTransaction({ _, _ in nil }, completion: { _, error in errors.completion(error) })
      #expect(await errors.next() == .failedPrecondition)
    }
  }
}

extension Result where Failure == any Error {
  nonisolated(nonsending) fileprivate init(_ body: nonisolated(nonsending) () async throws -> Success) async {
    do { self = .success(try await body()) } catch { self = .failure(error) }
  }
}
