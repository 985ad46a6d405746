// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import FirestoreTesting
import Foundation
import SeededRandom
import Testing

/// Power failures: the calls of a real run are recorded, cut at a random one, and replayed as a disk may have them.
///
/// What was synced is there. Of the rest, the disk has nothing, everything, or a random choice of whole writes, of sectors
/// of 512 bytes, or of file sizes. `HEARTH_POWER_FAILURES=300` makes that many per mode.
@Suite(.besideOthers, .serialized, .timeLimit(.minutes(120))) struct PowerFailureTests {
  private static let failures =
    ProcessInfo.processInfo.environment["HEARTH_POWER_FAILURES"].flatMap { Int($0) } ?? 16
  private static let commits = 60

  @Test("After a power failure the data opens with all commits or at an earlier state", arguments: ["normal", "full"])
  func backend(_ durability: String) async throws {
    let seed: UInt64 = 45
    var random = SeededGenerator(seed: seed)
    let origin = try ClientFolder()
    let record = origin.path + "/record"
    let run = try origin.start(
      durability, "0", "\(Self.commits)", "1", environment: ["FAIL_PATH": "/backend/", "FAIL_RECORD": record])
    let stored = ReportedCommits(output: try await ChildProcess.all(run.output)).stored
    #expect(stored.count == Self.commits)
    let calls = try RecordedCalls(path: record)
    var (violations, lost) = (0, 0)

    for number in 0..<Self.failures {
      let folder = try ClientFolder()
      let cut = Int.random(in: 0...calls.count, using: &random)
      let disk = RecordedCalls.Disk.allCases[number % RecordedCalls.Disk.allCases.count]
      let marks = try calls.replay(
        upTo: cut, disk, from: origin.path + "/backend", into: folder.path + "/backend", &random)
      var reported = ReportedCommits(output: "")
      reported.stored = marks
      var problems: [String]
      do {
        let found = try await FoundCommits(backendIn: folder.path)
        problems = found.violations(reported, mayLose: durability == "normal")
        if marks.contains(where: { !found.whole.contains($0) }) {
          lost += 1
          if found.reports.isEmpty { problems.append("lost commits without a report") }
        }
      } catch {
        problems = ["does not open: \(error)"]
      }
      violations += problems.count
      #expect(problems == [], "seed \(seed), failure \(number), cut at call \(cut) of \(calls.count), disk \(disk)")
    }
    if Self.failures >= 100 {
      print("POWER FAILURES \(durability): \(Self.failures), of these \(lost) lost commits, \(violations) violations")
    }
  }

  @Test("After a power failure the cache keeps the writes of earlier sessions")
  func cache() async throws {
    let seed: UInt64 = 46
    var random = SeededGenerator(seed: seed)
    let origin = try ClientFolder()
    let record = origin.path + "/record"
    let environment = ["FAIL_PATH": "/cache/", "FAIL_RECORD": record]
    // The first session closes the cache, which syncs it.
    let first = try origin.start("cache", "0", "30", "0", environment: environment)
    let kept = ReportedCommits(output: try await ChildProcess.all(first.output)).stored
    #expect(try await first.exitStatus() == 0)
    let start = try RecordedCalls(path: record).count
    let second = try origin.start("cache", "100", "\(Self.commits)", "1", environment: environment)
    _ = try await ChildProcess.all(second.output)
    let calls = try RecordedCalls(path: record)
    var violations = 0

    for number in 0..<Self.failures {
      let folder = try ClientFolder()
      let cut = Int.random(in: start...calls.count, using: &random)
      let disk = RecordedCalls.Disk.allCases[number % RecordedCalls.Disk.allCases.count]
      var reported = ReportedCommits(output: "")
      reported.stored = try calls.replay(
        upTo: cut, disk, from: origin.path + "/cache", into: folder.path + "/cache", &random)
      var problems: [String]
      do {
        let found = try FoundCommits(cacheIn: folder)
        problems = found.violations(reported, mayLose: true)
        if !found.whole.isSuperset(of: kept) { problems.append("writes of the first session are lost") }
      } catch {
        problems = ["does not open: \(error)"]
      }
      violations += problems.count
      #expect(problems == [], "seed \(seed), failure \(number), cut at call \(cut) of \(calls.count), disk \(disk)")
    }
    if Self.failures >= 100 { print("POWER FAILURES cache: \(Self.failures), \(violations) violations") }
  }
}

/// The calls that a process with `FailingCalls` recorded.
struct RecordedCalls {
  /// How much of what was not synced the disk has.
  enum Disk: CaseIterable {
    case nothing, wholeWrites, sectors, everything
  }

  private struct Call {
    var kind: UInt32
    var path: String
    var offset: Int
    var bytes: Data
    var file: UInt64
  }

  private enum Change {
    case write(Int, Data)
    case size(Int)
  }

  private var calls: [Call] = []

  var count: Int { calls.count }

  init(path: String) throws {
    let record = try Data(contentsOf: URL(filePath: path))
    var place = 0
    func number<Number: FixedWidthInteger>(_ type: Number.Type) -> Number {
      defer { place += MemoryLayout<Number>.size }
      return record.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: place, as: Number.self) }
    }
    while place < record.count {
      let (kind, pathCount) = (number(UInt32.self), Int(number(UInt32.self)))
      let (offset, count, file) = (number(UInt64.self), number(UInt64.self), number(UInt64.self))
      let name = String(decoding: record[place..<place + pathCount], as: UTF8.self)
      place += pathCount
      // Writes have their bytes, and renamings the second path.
      let bytes = kind == 1 || kind == 4 ? record[place..<place + Int(count)] : Data()
      place += bytes.count
      calls.append(Call(kind: kind, path: name, offset: Int(offset), bytes: Data(bytes), file: file))
    }
  }

  /// Makes the files that the disk may have after the first calls. Names are as after the last of these calls.
  /// - Returns: the numbers of the commits that were reported by then.
  func replay(
    upTo cut: Int, _ disk: Disk, from origin: String, into folder: String, _ random: inout SeededGenerator
  ) throws -> [Int] {
    var (synced, pending): ([UInt64: Data], [UInt64: [Change]]) = ([:], [:])
    var (names, marks): ([String: UInt64], [Int]) = ([:], [])
    for call in calls[..<cut] {
      switch call.kind {
      case 1: pending[call.file, default: []].append(.write(call.offset, call.bytes))
      case 2:
        for change in pending[call.file] ?? [] { Self.apply(change, to: &synced[call.file, default: Data()]) }
        pending[call.file] = []
      case 3: pending[call.file, default: []].append(.size(call.offset))
      case 4:
        names[String(decoding: call.bytes, as: UTF8.self)] = names[call.path]
        names[call.path] = nil
      case 5: names[call.path] = nil
      case 6:
        names[call.path] = call.file
        if call.offset != 0 { pending[call.file, default: []].append(.size(0)) }
      default: marks.append(call.offset)
      }
    }
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    for (path, file) in names where path.hasPrefix(origin + "/") {
      let name = String(path.dropFirst(origin.count + 1))
      if name == "lock" || name.hasSuffix("-shm") || name.contains("/") { continue }
      var contents = synced[file] ?? Data()
      for change in pending[file] ?? [] { Self.apply(Self.remains(of: change, disk, &random), to: &contents) }
      // The system was started anew.
      if name.hasSuffix(".open"), !contents.isEmpty { contents = Data("another boot".utf8) }
      try contents.write(to: URL(filePath: folder + "/" + name))
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder + "/" + name)
    }
    return marks
  }

  private static func remains(of change: Change, _ disk: Disk, _ random: inout SeededGenerator) -> [Change] {
    switch (disk, change) {
    case (.nothing, _): []
    case (.everything, _): [change]
    case (.wholeWrites, _), (.sectors, .size): Bool.random(using: &random) ? [change] : []
    case (.sectors, .write(let offset, let bytes)):
      stride(from: 0, to: bytes.count, by: 512).compactMap { start in
        guard Int.random(in: 0..<5, using: &random) < 3 else { return nil }
        return .write(offset + start, Data(bytes[start..<min(start + 512, bytes.count)]))
      }
    }
  }

  private static func apply(_ changes: [Change], to contents: inout Data) {
    for change in changes { apply(change, to: &contents) }
  }

  private static func apply(_ change: Change, to contents: inout Data) {
    switch change {
    case .size(let size):
      if contents.count > size {
        contents.removeLast(contents.count - size)
      } else {
        contents.append(Data(count: size - contents.count))
      }
    case .write(let offset, let bytes):
      if contents.count < offset + bytes.count { contents.append(Data(count: offset + bytes.count - contents.count)) }
      contents.replaceSubrange(offset..<offset + bytes.count, with: bytes)
    }
  }
}
