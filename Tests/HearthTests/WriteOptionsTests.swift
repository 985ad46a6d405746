// SPDX-License-Identifier: Apache-2.0
import ClientTesting
import Hearth
import Testing

@Suite("Write deadlines and online-only writes", .timeLimit(.minutes(10)))
struct WriteOptionsTests {
  @Test("A write not sent before its deadline is canceled and reported; other writes wait")
  func deadline() async throws {
    try await TestDatabase.run { test async throws in
      let city = test.db.document("cities/SF")
      try await city.setData(["n": 1])
      try await test.db.disableNetwork()
      let patient = try city.enqueueUpdate(["m": 1])
      let late = try city.enqueueUpdate(["n": 2], options: WriteOptions(deadline: .milliseconds(20)))
      try await late.local

      await #expect { try await late.acknowledged } throws: { code(of: $0) == .deadlineExceeded }

      #expect(try await city.getDocument(source: .cache).get("n") as? Int == 1)
      #expect(try await test.db.pendingWrites.current.map(\.id) == [try await patient.id])
      #expect(try await test.db.rejectedWrites.current.isEmpty)
      try await test.db.enableNetwork()
      try await patient.acknowledged
      let stored = try await test.other.document("cities/SF").getDocument(source: .server)
      #expect(stored.get("n") as? Int == 1 && stored.get("m") as? Int == 1)
    }
  }

  @Test("A write sent in time is not canceled afterwards")
  func inTime() async throws {
    try await TestDatabase.run { test async throws in
      let city = test.db.document("cities/SF")
      let write = try city.enqueueData(["n": 1], options: WriteOptions(deadline: .seconds(600)))
      try await write.acknowledged
      #expect(try await test.other.document("cities/SF").getDocument(source: .server).exists)
    }
  }

  @Test("An online-only write fails immediately offline and queues nothing")
  func failsIfOffline() async throws {
    try await TestDatabase.run { test async throws in
      let (city, options) = (test.db.document("cities/SF"), WriteOptions(failsIfOffline: true))
      try await city.setData(["n": 1])
      try await test.db.disableNetwork()
      let handles = [
        try city.enqueueData(["n": 2], options: options), try city.enqueueUpdate(["n": 2], options: options),
        try city.enqueueDelete(options: options),
        try test.db.batch().deleteDocument(city).enqueue(options: options),
        try test.db.collection("cities").enqueueDocument(data: ["n": 2], options: options).write,
      ]
      for handle in handles {
        await #expect { try await handle.local } throws: { code(of: $0) == .unavailable }
        await #expect { try await handle.acknowledged } throws: { code(of: $0) == .unavailable }
      }
      #expect(try await city.getDocument(source: .cache).get("n") as? Int == 1)
      #expect(try await test.db.pendingWrites.current.isEmpty)

      try await test.db.enableNetwork()
      _ = try await city.getDocument(source: .server)
      try await city.enqueueUpdate(["n": 3], options: options).acknowledged
      #expect(try await test.other.document("cities/SF").getDocument(source: .server).get("n") as? Int == 3)
    }
  }
}
