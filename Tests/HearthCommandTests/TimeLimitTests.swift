// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FirestoreModel
import Testing

@testable import CommandOptions
@testable import CommandOutput
@testable import HearthCommand

@Suite("Write time limits")
struct TimeLimitTests {
  private let key = DocumentKey(unchecked: ResourcePath("c/a"))

  @Test("A write that the server rejected is not reported as possibly applied")
  func refused() async throws {
    let refusal = CommandFailure(.tryAgain, "c/a: resource-exhausted: the disk is full; nothing was stored.")
    for arguments in [[], ["--timeout", "1h"]] {
      let options = try TimeLimitOptions.parse(arguments)
      await #expect(throws: refusal) { try await options.limit(writing: key) { throw refusal } }
    }
  }

  @Test("An unanswered write is reported as possibly applied, and a read is not")
  func late() async throws {
    let options = try TimeLimitOptions.parse(["--timeout", "1ms"])
    for (key, expected) in [
      (key, "c/a: no answer within 0.001 seconds. The write may have been applied anyway."),
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
