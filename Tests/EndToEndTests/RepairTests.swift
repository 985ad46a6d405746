// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import FirestoreBackend
import FirestoreModel
import Foundation
import Testing

extension EndToEndTests.InShells {
  /// `hearth repair` on data that a killed server left, damaged in its database or its log. CI runs the release program:
  /// the optimizer once broke what debug builds repaired.
  @Suite(.serialized) struct RepairTests {
    /// A damage, at a random place.
    enum Damage: String, CaseIterable {
      case bitInLog, bitInLogHeader, cutLog, bitInDatabase, zeroedPage, emptyDatabase, noise
    }

    private let surroundings: Surroundings

    init() throws { surroundings = try Surroundings() }

    private var database: URL { URL(filePath: surroundings.backend + "/backend.sqlite3") }
    private var log: URL { URL(filePath: surroundings.backend + "/backend.sqlite3-wal") }

    /// Leaves the files of a backend with 40 documents, of which the second half is only in the log.
    private func makeData() async throws {
      let name = DatabaseID(project: "hearth", database: "(default)")
      let origin = surroundings.backend + "-origin"
      func open() throws -> LocalBackend {
        try LocalBackend(BackendConfiguration(location: .directory(origin), now: { Timestamp(seconds: 1_700_000_000) }))
      }
      func commit(_ numbers: Range<Int>, to backend: LocalBackend) async throws {
        for number in numbers {
          let text = Value.string(String(repeating: "x", count: number * 100))
          let key = DocumentKey(unchecked: ResourcePath("c/d\(number)"))
          try await backend.commit(
            [Mutation(key: key, operation: .set(["n": .integer(Int64(number)), "text": text]))], in: name)
        }
      }
      do { try await commit(0..<20, to: open()) }
      let backend = try open()
      try await commit(20..<40, to: backend)
      try FileManager.default.copyItem(atPath: origin, toPath: surroundings.backend)
      withExtendedLifetime(backend) {}
    }

    private func happen(_ damage: Damage) throws {
      var random = SystemRandomNumberGenerator()
      func edit(_ file: URL, _ change: (inout Data) -> Void) throws {
        var bytes = try Data(contentsOf: file)
        change(&bytes)
        try bytes.write(to: file)
      }
      func flip(_ bytes: inout Data, in range: Range<Int>) {
        bytes[Int.random(in: range, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      }
      switch damage {
      case .bitInLog: try edit(log) { flip(&$0, in: 32..<$0.count) }
      case .bitInLogHeader: try edit(log) { flip(&$0, in: 0..<32) }
      case .cutLog: try edit(log) { $0.removeLast(Int.random(in: 0..<$0.count, using: &random)) }
      case .bitInDatabase: try edit(database) { flip(&$0, in: 0..<$0.count) }
      case .zeroedPage:
        try edit(database) { bytes in
          let page = Int.random(in: 0..<bytes.count / 4096, using: &random) * 4096
          bytes.replaceSubrange(page..<page + 4096, with: Data(count: 4096))
        }
      case .emptyDatabase: try edit(database) { $0.removeAll() }
      case .noise: try Data((0..<8192).map { _ in UInt8.random(in: 0...255, using: &random) }).write(to: database)
      }
    }

    @Test("Repair never crashes, and repaired data can be opened", arguments: Damage.allCases)
    func repair(_ damage: Damage) async throws {
      for _ in 0..<3 {
        try? FileManager.default.removeItem(atPath: surroundings.backend)
        try? FileManager.default.removeItem(atPath: surroundings.backend + "-origin")
        try await makeData()
        try happen(damage)

        let repair = try await HeadlessRun(["repair", "--data", surroundings.backend, "--yes"], surroundings)
        let read = try await HeadlessRun(["export", "c", "--data", surroundings.backend], surroundings)
        let again = try await HeadlessRun(["repair", "--data", surroundings.backend], surroundings)

        #expect([0, 65].contains(repair.status), "\(repair.status): \(repair.output)\(repair.errors)")
        // Nothing can be saved of a database of noise.
        #expect([0, 4].contains(read.status), "\(read.status): \(read.errors)")
        #expect(again.status == 0, "\(again.status): \(again.errors)")
        if damage == .bitInLog {
          #expect(read.lines.count >= 38, "\(read.lines.count) of 40: \(repair.output)\(repair.errors)")
        }
      }
    }
  }
}
