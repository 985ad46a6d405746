// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import FirestoreModel
import Foundation
import Testing

extension EndToEndTests.InTmux {
  /// 20 000 documents; a million with `HEARTH_FULL=1`.
  @Suite(.serialized) struct LargeCollectionTests {
    private static let count = Waiting.isFull ? 1_000_000 : 20_000
    /// What the dashboard may grow by. The documents alone, as they are stored, are more than that: 20 000 of 4 kB, or a
    /// million that take hundreds of bytes each in memory.
    private static let allowance = 60 << 20

    @Test("A large collection is opened, paged to its end and filtered without a full read")
    func browse() async throws {
      let surroundings = try Surroundings()
      let filling = String(repeating: "f", count: Waiting.isFull ? 40 : 4_000)
      #expect(Waiting.isFull || Self.count * filling.utf8.count > Self.allowance)
      try await BackendFolder(path: surroundings.backend).seed(
        (0..<Self.count).lazy.map { index in
          (
            DocumentKey(unchecked: ResourcePath("many").appending(Self.id(index))),
            [
              "name": .string("name \(index)"), "index": .integer(Int64(index)), "zz": .string(filling),
            ] as Fields
          )
        })
      let hearth = try await TmuxTerminal(in: surroundings)
      try await hearth.wait("many")
      let process = try #require(hearth.processID)
      let before = try ProcessFigures(process).residentBytes

      try await hearth.wait(Self.id(0))
      try await hearth.keys("G")
      try await hearth.wait("▸ " + Self.id(Self.count - 1))
      try await hearth.keys("/")
      try await hearth.wait("filter Collections")
      try await hearth.type("^" + Self.id(Self.count / 2))
      try await hearth.keys("Enter")
      try await hearth.wait("▸ " + Self.id(Self.count / 2))

      // A word that no query can ask for is found at the end, and a range in the order of its field.
      try await hearth.keys("Escape")
      try await hearth.wait(Self.id(0))
      try await hearth.keys("/")
      try await hearth.wait("filter Collections")
      try await hearth.type("name:~\(Self.count - 1)")
      try await hearth.keys("Enter")
      try await hearth.wait("▸ " + Self.id(Self.count - 1))
      try await hearth.keys("Escape")
      try await hearth.wait(Self.id(0))
      try await hearth.keys("/")
      try await hearth.wait("filter Collections")
      try await hearth.type("index:>\(Self.count - 3)")
      try await hearth.keys("Enter")
      try await hearth.wait("▸ " + Self.id(Self.count - 2))

      // A sanitizer has memory of its own for each byte.
      let isSanitized = ProcessInfo.processInfo.environment["HEARTH_SANITIZED"] == "1"
      #expect(try isSanitized || ProcessFigures(process).residentBytes - before < Self.allowance)
    }

    private static func id(_ index: Int) -> String {
      let digits = "\(index)"
      return "m" + String(repeating: "0", count: 7 - digits.count) + digits
    }
  }
}
