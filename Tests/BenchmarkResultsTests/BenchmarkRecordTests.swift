// SPDX-License-Identifier: Apache-2.0
import BenchmarkResults
import FirestoreTesting
import Foundation
import Testing

@Suite struct BenchmarkRecordTests {
  private let folder = TemporaryFolder()
  private var path: String { folder.path + "/record.json" }

  init() throws { try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true) }

  private func record(_ lines: [ReportLine], commit: String = "abc", machine: String = "here") throws -> BenchmarkRecord
  {
    var record = try BenchmarkRecord(at: path, mayBeMissing: true)
    for line in lines {
      record.add(line, commit: commit, on: Date(timeIntervalSince1970: 1_800_000_000), machine: machine)
    }
    return record
  }

  @Test("A benchmark record has one line per entry, oldest first, and round-trips")
  func history() throws {
    try record([line("write", "patch", seconds: 0.002, floor: 0.001)], commit: "first").write(to: path)
    try record([line("write", "patch", seconds: 0.003, floor: 0.001)], commit: "second").write(to: path)
    let text = try String(contentsOfFile: path, encoding: .utf8)
    #expect(text.split(separator: "\n").filter { $0.contains("\"commit\"") }.count == 2)
    let entries = try #require(try BenchmarkRecord(at: path).figures["write (patch), 10000"])
    #expect(entries.map(\.commit) == ["first", "second"] && entries.map(\.value) == [2, 3])
    #expect(entries.map(\.ratio) == [2, 3] && entries.map(\.date) == ["2027-01-15", "2027-01-15"])
    let history = try BenchmarkRecord(at: path).history(of: "write")
    #expect(history.hasPrefix("write (patch), 10000\n  2027-01-15  first  2 ms"))
  }

  @Test("A new result replaces the earlier result for the same commit and machine")
  func replacement() throws {
    try record([line("write", seconds: 1)]).write(to: path)
    try record([line("write", seconds: 2)], machine: "there").write(to: path)
    try record([line("write", seconds: 3)]).write(to: path)
    let entries = try #require(try BenchmarkRecord(at: path).figures["write, 10000"])
    #expect(entries.map(\.machine) == ["there", "here"] && entries.map(\.value) == [2_000, 3_000])
  }

  @Test(
    "A missing or invalid record is reported; an unknown benchmark gets a suggestion")
  func failures() throws {
    #expect(throws: BenchmarkRecord.Failure.self) { try BenchmarkRecord(at: path) }
    try Data("[]".utf8).write(to: URL(filePath: path))
    let failure = #expect(throws: BenchmarkRecord.Failure.self) { try BenchmarkRecord(at: path, mayBeMissing: true) }
    #expect(failure?.description.hasPrefix("\(path) is not a record") == true)
    try FileManager.default.removeItem(atPath: path)
    let unknown = #expect(throws: BenchmarkRecord.Failure.self) {
      try record([line("write", seconds: 1)]).history(of: "wriet")
    }
    #expect(unknown?.description == "The record has no figure of “wriet”. Did you mean “write”?")
  }

  @Test("Benchmark ratios may grow 25 % (100 % on another machine), allocations 10 %")
  func comparison() throws {
    let record = try record([line("write", seconds: 0.008, floor: 0.001, allocations: 100)])
    func compare(_ seconds: Double, _ allocations: Double = 100, on machine: String = "here") throws -> [Bool] {
      let line = line("write", seconds: seconds, floor: 0.001, allocations: allocations)
      let comparison = try #require(RecordComparison(line, with: record, on: machine))
      return [comparison.isRecorded, comparison.ratioHasGrown, comparison.allocationsHaveGrown]
    }
    #expect(try compare(0.009_9) == [true, false, false])
    #expect(try compare(0.010_1) == [true, true, false])
    #expect(try compare(0.015, on: "there") == [true, false, false])
    #expect(try compare(0.017, on: "there") == [true, true, false])
    #expect(try compare(0.008, 109) == [true, false, false])
    #expect(try compare(0.008, 112) == [true, false, true])
    let other = try #require(RecordComparison(line("read", seconds: 1, allocations: 1), with: record, on: "here"))
    #expect(!other.isRecorded && !other.hasGrown)
    #expect(RecordComparison(line("read", seconds: 1), with: record, on: "here") == nil)
  }

  @Test("A benchmark ratio counts as grown only if its best and its median both grew")
  func noise() throws {
    func line(_ seconds: [Double]) -> ReportLine {
      let reading = Reading(
        unit: .milliseconds, samples: seconds.map { Sample(wall: $0, cpu: $0) }, floor: [Sample(wall: 1, cpu: 1)])
      return ReportLine("write", documents: 10_000, reading, load: 0.5)
    }
    let record = try record([line([2, 3, 3])])
    #expect(RecordComparison(line([3, 9, 9]), with: record, on: "here")?.ratioHasGrown == false)
    #expect(RecordComparison(line([4, 4, 4]), with: record, on: "here")?.ratioHasGrown == true)
    #expect(RecordComparison(line([3.7, 3.7, 3.7]), with: record, on: "here")?.ratioHasGrown == false)
  }

  @Test("The best ratio is the best repetition divided by the reference's best repetition")
  func best() {
    let slow = Sample(wall: 9, cpu: 9)
    let reading = Reading(
      unit: .milliseconds, samples: [slow, Sample(wall: 4, cpu: 4), slow], floor: [slow, Sample(wall: 2, cpu: 2)])
    let line = ReportLine("case", documents: 1_000, reading, load: 0.5)
    #expect(line.best == 2 && line.ratio == 4.5)
  }
}
