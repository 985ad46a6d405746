// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import Testing

@Suite(.timeLimit(.minutes(10))) struct SecondProcessTests {
  @Test("A second process on one cache gets an error and uses a memory cache instead")
  func secondProcess() async throws {
    let folder = try ClientFolder()
    let first = try CommandedClient(folder)
    try await first.tell("write rooms/a 10")
    #expect(try await first.ask("status") == "status durable / works")

    let second = try CommandedClient(folder)
    let status = try await second.ask("status")

    #expect(status.hasPrefix("status failed-precondition "), "\(status)")
    #expect(status.contains("process \(first.process.id)") && status.contains(folder.path + "/cache"), "\(status)")
    #expect(try await second.ask("count rooms") == "count 0")
    for client in [first, second] {
      try await client.tell("listen rooms")
      try await client.tell("write rooms/b 10")
      try await client.tell("remote rooms/c 10")
      try await client.tell("sent")
    }
    try await first.shows("rooms", "3 server")
    try await second.shows("rooms", "2 server")

    // The one that has the cache ends; the next to come gets it.
    first.process.closeInput()
    #expect(try await first.process.exitStatus() == 0)
    let third = try CommandedClient(folder)
    #expect(try await third.ask("status") == "status durable / works")
    #expect(try await third.ask("count rooms") == "count 3")
    try await second.tell("write rooms/d 10")
  }
}
