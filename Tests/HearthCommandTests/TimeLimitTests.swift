// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FirestoreModel
import Testing

@testable import CommandOptions
@testable import CommandOutput
@testable import HearthCommand

@Suite("The time that a write has")
struct TimeLimitTests {
  private let key = DocumentKey(unchecked: ResourcePath("c/a"))

  @Test("A write that a server refused is not said to be applied perhaps: its disk may be full, and nothing was stored")
  func refused() async throws {
    let refusal = CommandFailure(.tryAgain, "c/a: resource-exhausted: the disk is full; nothing was stored.")
    for arguments in [[], ["--timeout", "1h"]] {
      let options = try TimeLimitOptions.parse(arguments)
      await #expect(throws: refusal) { try await options.limit(writing: key) { throw refusal } }
    }
  }

  @Test("A write without an answer in its time may have been applied, and a question only has none")
  func late() async throws {
    let options = try TimeLimitOptions.parse(["--timeout", "1ms"])
    for (key, expected) in [
      (key, "c/a: no answer within 0.001 seconds. The write may have been applied all the same."),
      (nil, "no answer within 0.001 seconds."),
    ] {
      await #expect(throws: CommandFailure(.tryAgain, expected)) {
        try await options.limit(writing: key) {
          let (never, continuation) = AsyncStream.makeStream(of: Never.self)
          for await _ in never {}
          withExtendedLifetime(continuation) {}
        }
      }
    }
  }
}
