// SPDX-License-Identifier: Apache-2.0
package import Foundation
import Spelling

/// The history of all benchmark figures, stored in a file of the repository.
package struct BenchmarkRecord: Codable, Sendable {
  package struct Entry: Codable, Hashable, Sendable {
    /// The day in UTC, such as 2026-01-31.
    package var date: String
    package var commit: String
    /// The number and the model of the processors.
    package var machine: String
    package var value: Double
    package var unit: String
    package var floor: Double?
    package var ratio: Double?
    /// The ratio to the SQLite floor (the same work done with only SQLite), from the fastest repetitions.
    package var best: Double?
    package var p50: Double?
    package var p99: Double?
    package var peak: Double?
    package var allocations: Double?
    /// The size of a build's object files.
    package var bytes: Double?
  }

  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  /// The path of the record in the repository.
  package static let path = "Sources/Tools/Benchmarks/RECORD.json"

  /// The entries of each figure, newest last.
  package private(set) var figures: [String: [Entry]] = [:]

  /// - Throws: `Failure` for an invalid file. A missing file counts as empty if `mayBeMissing` is set.
  package init(at path: String, mayBeMissing: Bool = false) throws {
    guard let data = FileManager.default.contents(atPath: path) else {
      if mayBeMissing, !FileManager.default.fileExists(atPath: path) { return }
      throw Failure(description: "\(path) cannot be read: run hearth-bench in the clone, or use --from.")
    }
    do { self = try JSONDecoder().decode(Self.self, from: data) } catch {
      throw Failure(description: "\(path) is not a record of hearth-bench: \(error)")
    }
  }

  package static func name(_ line: ReportLine) -> String { "\(line.name), \(line.n)" }

  /// Adds a figure. Replaces an entry of the same commit and the same kind of machine.
  package mutating func add(_ line: ReportLine, commit: String, on date: Date, machine: String = Self.machine) {
    var format = Date.ISO8601FormatStyle()
    format.timeZone = .gmt
    let entry = Entry(
      date: date.formatted(format.year().month().day()), commit: commit, machine: machine, value: line.value,
      unit: line.unit, floor: line.floor, ratio: line.ratio, best: line.best, p50: line.p50, p99: line.p99,
      peak: line.peak, allocations: line.allocations)
    figures[Self.name(line), default: []].removeAll { $0.commit == commit && $0.machine == machine }
    figures[Self.name(line), default: []].append(entry)
  }

  /// The newest entry of a figure for this kind of machine. If there is none, the newest entry for any machine.
  func newest(_ name: String, of machine: String = Self.machine) -> Entry? {
    let entries = figures[name] ?? []
    return entries.last { $0.machine == machine } ?? entries.last
  }

  /// The figures of a case, by their names.
  package func figures(of benchmark: String) -> [(name: String, entries: [Entry])] {
    figures.filter { Self.benchmark($0.key) == benchmark }
      .map { ($0.key, $0.value) }.sorted { $0.0 < $1.0 }
  }

  /// The benchmark case of a figure. Its name is the part before the variant and the document count.
  fileprivate static func benchmark(_ figure: String) -> String { String(figure.prefix { $0 != " " && $0 != "," }) }

  /// Writes the record with one line per entry, so that diffs are readable.
  package func write(to path: String) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    func text(_ value: some Encodable) throws -> String { String(decoding: try encoder.encode(value), as: UTF8.self) }
    let parts = try figures.sorted { $0.key < $1.key }.map { name, entries in
      let lines = try entries.map { "      " + (try text($0)) }
      return "    \(try text(name)): [\n\(lines.joined(separator: ",\n"))\n    ]"
    }
    let all = "{\n  \"figures\": {\n" + parts.joined(separator: ",\n") + "\n  }\n}\n"
    do { try Data(all.utf8).write(to: URL(filePath: path), options: .atomic) } catch {
      throw Failure(description: "\(path) cannot be written: \(error.localizedDescription)")
    }
  }

  /// The kind of this machine, as stored in entries. Ratios differ between kinds of machines.
  package static let machine: String = {
    // The kind is unknown on systems without /proc.
    let text = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
    let model = text.split(separator: "\n").first { $0.hasPrefix("model name") }?.split(separator: ":").last
    let kind = model.map { $0.trimmingCharacters(in: .whitespaces) } ?? "unknown"
    return "\(ProcessInfo.processInfo.activeProcessorCount) x \(kind)"
  }()
}

extension BenchmarkRecord {
  /// The history of a benchmark case as lines of text.
  package func history(of benchmark: String) throws(Failure) -> String {
    let found = figures(of: benchmark)
    guard !found.isEmpty else {
      let known = Set(figures.keys.map(Self.benchmark)).sorted()
      let nearest = NearestName.closest(to: benchmark, among: known)?.name
      let hint = nearest.map { " Did you mean “\($0)”?" } ?? " It has \(known.joined(separator: ", "))."
      throw Failure(description: "The record has no figure of “\(benchmark)”.\(known.isEmpty ? " It is empty." : hint)")
    }
    func text(_ name: String, _ value: Double?, _ unit: String = "") -> String {
      value.map { "  \(name) \(String(format: "%g", $0))\(unit)" } ?? ""
    }
    return found.map { name, entries in
      "\(name)\n"
        + entries.map { entry in
          "  \(entry.date)  \(entry.commit)  \(String(format: "%g", entry.value)) \(entry.unit)"
            + text("floor", entry.floor) + text("ratio", entry.ratio) + text("best ratio", entry.best)
            + text("p50", entry.p50, " us") + text("p99", entry.p99, " us") + text("peak", entry.peak, " MB")
            + text("allocations", entry.allocations) + "  \(entry.machine)\n"
        }.joined()
    }.joined()
  }
}

/// The comparison of a figure with the newest entry in the record.
package struct RecordComparison {
  /// A figure's ratio to the SQLite floor may exceed the recorded ratio by this factor.
  package static let ratioMargin = 1.25
  /// The allowed factor if the recorded entry is from another kind of machine. Caches and kernels differ between
  /// machines.
  package static let otherMachineMargin = 2.0
  package static let allocationMargin = 1.1

  /// A line of text with the figure, its values and its limits.
  package private(set) var text: String
  /// Whether the record contains the figure.
  package private(set) var isRecorded = false
  package private(set) var ratioHasGrown = false
  package private(set) var allocationsHaveGrown = false

  /// - Returns: `nil` for a figure that has neither a SQLite floor nor an allocation count.
  package init?(_ line: ReportLine, with record: BenchmarkRecord, on machine: String = BenchmarkRecord.machine) {
    if line.best == nil, line.allocations == nil { return nil }
    text = BenchmarkRecord.name(line)
    guard let entry = record.newest(text, of: machine) else { return }
    isRecorded = true
    let isOfThisKind = entry.machine == machine
    // More expensive work increases both the best repetitions and the median. A busy machine, now or when the entry was
    // recorded, increases only one of them.
    ratioHasGrown = compare(
      "ratio", [line.best, line.ratio].compactMap(\.self).min(), [entry.best, entry.ratio].compactMap(\.self).max(),
      isOfThisKind ? Self.ratioMargin : Self.otherMachineMargin)
    allocationsHaveGrown = compare("allocations", line.allocations, entry.allocations, Self.allocationMargin)
    if line.best != nil, !isOfThisKind { text += "  (of another kind of machine)" }
  }

  package var hasGrown: Bool { ratioHasGrown || allocationsHaveGrown }

  private mutating func compare(_ name: String, _ value: Double?, _ recorded: Double?, _ margin: Double) -> Bool {
    guard let value, let recorded else { return false }
    let limit = recorded * margin
    text += "  \(name) " + String(format: "%g (record %g, at most %.4g)", value, recorded, limit)
    return value > limit
  }
}
