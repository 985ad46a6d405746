// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import Foundation
import Testing

extension EndToEndTests.InTmux {
  /// 20 000 documents; a million with `HEARTH_FULL=1`.
  @Suite(.serialized) struct LargeCollectionTests {
    private static let count = ProcessInfo.processInfo.environment["HEARTH_FULL"] == "1" ? 1_000_000 : 20_000

    @Test("A large collection is opened, walked to its end and filtered without being read")
    func browse() async throws {
      let surroundings = try Surroundings()
      try await BackendFolder(path: surroundings.backend).seed(
        (0..<Self.count).lazy.map { index in
          (
            DocumentKey(unchecked: ResourcePath("many").appending(Self.id(index))),
            ["name": .string("name \(index)"), "index": .integer(Int64(index))] as Fields
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
      try await hearth.type(Self.id(Self.count / 2))
      try await hearth.keys("Enter")
      try await hearth.wait("▸ " + Self.id(Self.count / 2))

      #expect(try ProcessFigures(process).residentBytes - before < 60 << 20)
    }

    private static func id(_ index: Int) -> String {
      let digits = "\(index)"
      return "m" + String(repeating: "0", count: 7 - digits.count) + digits
    }
  }
}
