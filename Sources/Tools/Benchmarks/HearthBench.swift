// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import BenchmarkResults
import FirestoreSQLite
import Foundation
import Spelling

/// Measures the cache and the sync core with sample data. Also measures the same work done with only SQLite.
@main
struct HearthBench: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hearth-bench",
    abstract: "Measure the offline cache, the sync core and the public API.",
    discussion: """
      Each case runs several times on sample data (documents of 12 fields, about 460 bytes) and reports the median: \
      wall time if the machine is quiet (load below 1.5), processor time otherwise. The floor is the time of the same \
      work with only SQLite, in the same run. Goals are for 100000 documents. p50us and p99us are percentiles of \
      single operations. peakMB is the peak memory above the memory at the start; for a client in a separate process \
      it is all of its memory. allocs is the allocation count of one operation or document. Measure release builds: \
      swift run -c release hearth-bench.

      --plot draws how the figures grow with the documents, listeners and pending writes, and names on standard error \
      the figures that grow faster than n log n. --record stores the figures, --history prints stored figures, and \
      --guard compares some cheap ones with the record.

      Cases:
      \(BenchmarkCase.all.map { "  \($0.name.padding(toLength: 26, withPad: " ", startingAt: 0)) \($0.summary)" }
        .joined(separator: "\n"))
      """)

  @Argument(help: "The cases to run. Default: all.")
  var cases: [String] = []

  @Option(help: "Document count of the cache; repeatable (default: 1000, 10000 and 100000).")
  var documents: [Int] = []

  @Flag(help: "Print one JSON object per line.")
  var json = false

  @Option(help: "Number of runs of each case, except cases with a fixed number (default: 5 to 9).")
  var repetitions: Int?

  @Option(help: ArgumentHelp("Draw how the figures grow, as SVG.", valueName: "file"))
  var plot: String?

  @Flag(help: "Exit with 1 if a figure grows faster than n log n.")
  var checkGrowth = false

  @Option(help: ArgumentHelp("Add the figures to a record; needs --commit.", valueName: "file"))
  var record: String?

  @Option(help: ArgumentHelp("The commit that is measured.", valueName: "hash"))
  var commit: String?

  @Option(help: ArgumentHelp("Print the recorded figures of a case.", valueName: "case"))
  var history: String?

  @Flag(
    name: .customLong("guard"),
    help:
      "Run cheap cases; exit with 1 if a ratio exceeds the record by 25 %, or the allocations exceed it by 10 %."
  )
  var isGuard = false

  @Option(help: ArgumentHelp("The record for --history and --guard.", valueName: "file"))
  var from = BenchmarkRecord.path

  @OptionGroup(visibility: .hidden)
  var child: ChildOptions

  func validate() throws {
    for name in cases where !BenchmarkCase.all.contains(where: { $0.name == name }) {
      let nearest = NearestName.closest(to: name, among: BenchmarkCase.all.map(\.name))?.name
      throw ValidationError("Unknown case “\(name)”\(nearest.map { "; did you mean “\($0)”?" } ?? ".")")
    }
    if let count = documents.first(where: { !(100...10_000_000).contains($0) }) {
      throw ValidationError("--documents \(count): give a number from 100 to 10000000.")
    }
    if let repetitions, !(1...1_000_000).contains(repetitions) {
      throw ValidationError("--repetitions \(repetitions): give a number from 1 to 1000000.")
    }
    if record != nil, commit?.isEmpty ?? true {
      throw ValidationError("--record needs --commit HASH, the commit of the measured code.")
    }
    if commit != nil, record == nil { throw ValidationError("--commit is for --record FILE.") }
    if isGuard, !cases.isEmpty || !documents.isEmpty || json || plot != nil || record != nil || checkGrowth {
      throw ValidationError("--guard has fixed cases and a fixed number of documents. Remove the other options.")
    }
    if history != nil, isGuard || record != nil || plot != nil {
      throw ValidationError("--history only prints the record. Remove the other options.")
    }
  }

  func run() throws {
    SQLiteMemory.disableAccounting()
    if let history { return print(try BenchmarkRecord(at: from).history(of: history), terminator: "") }
    try MainActor.assumeIsolated {
      if try child.run() { return }
      if isGuard {
        let isKept = try RegressionGuard(record: BenchmarkRecord(at: from)).run(repetitions: repetitions)
        throw isKept ? ExitCode.success : ExitCode.failure
      }
      try measure()
    }
  }

  @MainActor private func measure() throws {
    let chosen = cases.isEmpty ? BenchmarkCase.all : BenchmarkCase.named(cases)
    let sizes = documents.isEmpty ? [1_000, 10_000, 100_000] : documents
    // Reading the record now detects a bad file before hours of measuring.
    var kept = try record.map { try BenchmarkRecord(at: $0, mayBeMissing: true) }
    for path in [plot, record].compactMap(\.self) { try Self.checkThatFileCanBeWritten(path) }
    var progress = Progress(total: chosen.count * sizes.count)
    var lines: [ReportLine] = []
    if !json { print(ReportLine.tableHeader) }
    for size in sizes {
      let workbench = try Workbench(documents: size, repetitions: repetitions)
      for benchmark in chosen {
        progress.begin("\(benchmark.name), \(size) documents")
        let readings = try benchmark.readings(workbench)
        progress.clear()
        for reading in readings {
          let line = ReportLine(benchmark.name, documents: size, reading, load: machineLoad())
          print(json ? line.json : line.tableRow)
          lines.append(line)
        }
        fflush(nil)
      }
    }
    if let record, let commit {
      for line in lines { kept?.add(line, commit: commit, on: Date()) }
      try kept?.write(to: record)
    }
    if plot != nil || checkGrowth { try tellGrowth(lines, sizes) }
  }

  private static func checkThatFileCanBeWritten(_ path: String) throws {
    let folder = URL(filePath: path).deletingLastPathComponent().path
    let isThere = FileManager.default.fileExists(atPath: path)
    guard FileManager.default.isWritableFile(atPath: isThere ? path : folder) else {
      throw ValidationError("\(path) cannot be written: name a file in a folder that exists.")
    }
  }

  private func tellGrowth(_ lines: [ReportLine], _ sizes: [Int]) throws {
    let curves = GrowthCurve.all(lines)
    guard !curves.isEmpty else {
      throw ValidationError("Growth needs several document counts. Repeat --documents.")
    }
    if let plot {
      let clock = lines.allSatisfy { $0.clock == "wall" } ? "wall time" : "processor time"
      let subtitle =
        "medians of \(clock), at \(sizes.map(String.init).joined(separator: ", ")) documents; in grey n log n"
      try Data(GrowthPlot(curves: curves, subtitle: subtitle).svg.utf8).write(to: URL(filePath: plot))
    }
    let fast = curves.flatMap { curve in
      curve.fastSteps.map { step in
        String(
          format: "%@: %g times as much at %g as at %g %@, where n log n is %.3g times", curve.name, step.factor,
          step.to.number, step.from.number, curve.dimension, step.allowed)
      }
    }
    let verdict = fast.isEmpty ? "None of \(curves.count) curves grows" : "\(fast.count) steps grow"
    let text = (fast + ["\(verdict) faster than n log n, by more than a quarter."]).joined(separator: "\n")
    FileHandle.standardError.write(Data("\(text)\n".utf8))
    if checkGrowth, !fast.isEmpty { throw ExitCode.failure }
  }
}

/// The options with which this program starts itself as a child process, to measure in a separate process.
struct ChildOptions: ParsableArguments {
  @Option(help: "Do this work with the cache of --cache, and print the resident memory.")
  var residentProbe: String?

  @Option(help: "The directory of a cache; for --served-client memory or disk.")
  var cache: String?

  @Option(help: "Run as a client of a server: listen, change or write.")
  var servedClient: String?

  @Option(help: "The server of --served-client, HOST:PORT.")
  var servedAt: String?

  /// Performs the work of a child process, if the options request any.
  /// - Returns: whether there was any work.
  @MainActor func run() throws -> Bool {
    if let residentProbe, let cache {
      try ResidentProbe.run(residentProbe, cache)
      return true
    }
    guard let servedClient else { return false }
    #if HEARTH_CORE
      throw ValidationError("--served-client \(servedClient): this build has no public API.")
    #else
      let client = try ServedClient(work: servedClient, at: servedAt ?? "", cache: cache ?? "")
      try BenchmarkCase.wait { try await client.run() }
      return true
    #endif
  }
}

/// Prints the name of the running case on standard error, if standard error is a terminal.
struct Progress {
  let total: Int
  private var done = 0
  private let isShown = isatty(2) == 1

  init(total: Int) { self.total = total }

  mutating func begin(_ text: String) {
    done += 1
    show("[\(done)/\(total)] \(text)")
  }

  func clear() { show("") }

  private func show(_ text: String) {
    if isShown { FileHandle.standardError.write(Data("\r\u{1b}[K\(text)".utf8)) }
  }
}
