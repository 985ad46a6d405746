// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import Foundation
import Testing

extension EndToEndTests.InPipes {
  /// 2 000 documents; 100 000 with `HEARTH_FULL=1`.
  @Suite(.serialized) struct LargeTransferTests {
    private static let count = Waiting.isFull ? 100_000 : 2_000

    @Test("Imported documents are exported unchanged, from local data or a server")
    func transfer() async throws {
      let surroundings = try Surroundings()
      let filling = String(repeating: "é", count: 60)
      // In no order: 7 919 is prime to both counts.
      let lines = (0..<Self.count).map { number in
        let id = 1_000_000 + number * 7_919 % Self.count
        return "{\"path\": \"c/d\(id)\", \"data\": {\"n\": \(id), \"s\": \"\(filling)\"}}\n"
      }
      try surroundings.write("in.jsonl", lines.joined())
      let expected = lines.sorted().joined()
      let server = try await ServeProcess(
        surroundings, ["--data", surroundings.folder.appending(path: "served").path])

      for place in [[], ["--emulator", server.address]] {
        func hearth(_ arguments: String...) async throws -> HeadlessRun {
          try await HeadlessRun(arguments + place, surroundings)
        }
        let imported = try await hearth("import", surroundings.folder.appending(path: "in.jsonl").path)
        #expect(imported.status == 0, "\(imported.errors)")
        #expect(imported.errors.contains("\(Self.count)") || imported.errors.contains("documents"))
        let out = surroundings.folder.appending(path: "out.jsonl").path
        #expect(try await hearth("export", "--all", "--recursive", "-o", out).status == 0)
        // Not by `==` in the expectation: a difference would print both.
        let isSame = try surroundings.text("out.jsonl") == expected
        #expect(isSame, "\(place)")
      }
    }
  }
}
