// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import FirestoreLocal
import Foundation
import SeededRandom
import Testing

@Suite(.serialized, .timeLimit(.minutes(10))) struct FullDiskTests {
  @Test(
    "A full disk leaves no partial writes, and listeners resume after space is freed",
    arguments: [UInt64(1), 2, 3])
  func fullDisk(_ seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let folder = try ClientFolder()
    let client = try CommandedClient(folder)
    try await client.tell("listen rooms")
    try await client.tell("write rooms/first 100")
    var count = 1

    for round in 0..<6 {
      try await client.shows("rooms", "\(count) server")
      count += try await fill(client, folder, "rooms/\(round)", &random)
      // From here on nothing at all fits.
      try await client.tell("limit 1")
      try await refuses(client)
      try await client.tell("remote rooms/other-\(round) 1000")
      try await client.tell("retry")
      try await client.shows("rooms", "\(count) cache")
      #expect(try await client.ask("count rooms") == "count \(count)")
      #expect(try await client.ask("status").hasPrefix("status durable / "))

      try await client.tell("limit none")
      try await client.tell("retry")
      try await client.shows("rooms", "\(count + 1) server")
      try await client.tell("write rooms/\(round)-again 20000")
      try await client.tell("sent")
      count += 2
    }

    client.process.closeInput()
    #expect(try await client.process.exitStatus() == 0)
    try check(folder, "at the end of seed \(seed)")
    let store = try folder.openCache()
    let pending = try store.pendingBatches()
    #expect(pending.isEmpty)
    store.close()
  }

  @Test("A write rejected on a full disk is never stored, even as the WAL restarts")
  func refusedAfterCheckpoint() async throws {
    let folder = try ClientFolder()
    let client = try CommandedClient(folder)
    for number in 0..<40 {
      try await client.tell("write rooms/\(number) \(300_000 + number % 7 * 100_000)")
      try await client.tell("sent")
      try await client.tell("limit 1")
      try await refuses(client)
      try await client.tell("limit none")
    }
  }

  @Test("A client killed on a full disk keeps every write that it reported as stored", arguments: [UInt64(4), 5, 6])
  func killedOnFullDisk(_ seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let folder = try ClientFolder()
    let client = try CommandedClient(folder)
    let count = try await fill(client, folder, "rooms/a", &random)

    kill(client.process.id, SIGKILL)
    #expect(try await client.process.exitStatus() == 128 + SIGKILL)

    try check(folder, "killed, seed \(seed)")
    let next = try CommandedClient(folder)
    #expect(try await next.ask("count rooms") == "count \(count)")
    try await next.tell("write rooms/b 20000")
  }

  private func refuses(_ client: CommandedClient) async throws {
    let answer = try await client.ask("write rooms/none 1")
    #expect(answer.hasPrefix("failed resource-exhausted "), "\(answer)")
  }

  /// Writes until the disk is full, somewhere in the middle of what a write stores.
  /// - Returns: how many writes were stored.
  private func fill(
    _ client: CommandedClient, _ folder: ClientFolder, _ prefix: String, _ random: inout SeededGenerator
  ) async throws -> Int {
    let log = folder.size(of: "cache/cache.sqlite3-wal")
    try await client.tell("limit \(log + Int.random(in: 0...60_000, using: &random))")
    for count in 0..<1000 {
      let answer = try await client.ask("write \(prefix)-\(count) \(Int.random(in: 100...30_000, using: &random))")
      if answer == "ok" { continue }
      #expect(answer.hasPrefix("failed resource-exhausted "), "\(answer)")
      return count
    }
    throw Failure("the disk is never full")
  }

  private func check(_ folder: ClientFolder, _ context: String) throws {
    let store = try folder.openCache()
    let violations = try store.checkInvariants()
    store.close()
    #expect(violations == [], "\(context)")
    #expect(try folder.integrityComplaint(of: "cache/cache.sqlite3") == nil, "\(context)")
  }
}
