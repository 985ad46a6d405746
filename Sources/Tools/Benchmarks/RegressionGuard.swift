// SPDX-License-Identifier: Apache-2.0
import BenchmarkResults
import Foundation

/// Compares the figures of fast cases with the record. Only figures that other load on the machine hardly affects are
/// compared. These are ratios of processor times to the SQLite floor (the same work with only SQLite) in the same run,
/// and allocation counts.
struct RegressionGuard {
  static let cases = [
    "read-by-key", "query-equal-scan", "query-order-limit-scan", "query-collection", "relisten-synced",
    "query-equal-index", "query-order-limit-index", "start-index", "start-synced", "wire-decode", "apply-remote",
    "apply-remote-listened", "write-to-snapshot", "acknowledge", "fanout-100", "fanout-growth", "codable-decode",
    "write-to-callback", "listen-to-callback", "end-to-end-listen", "end-to-end-change",
    "end-to-end-write",
  ]
  static let documents = 10_000

  /// The number of runs before a ratio counts as increased. On a busy machine, a single run may not be enough.
  private static let attempts = 4

  let record: BenchmarkRecord

  /// Runs the cases, and prints each figure with its limit.
  /// - Returns: whether all figures are in the record and none exceeds its limit.
  @MainActor func run(repetitions: Int?) throws -> Bool {
    let workbench = try Workbench(documents: Self.documents, repetitions: repetitions)
    let chosen = BenchmarkCase.named(Self.cases)
    var progress = Progress(total: chosen.count)
    var (compared, grown, unknown) = (0, 0, 0)
    for benchmark in chosen {
      progress.begin(benchmark.name)
      var readings = try benchmark.readings(workbench)
      for _ in 1..<Self.attempts where comparisons(benchmark, readings).contains(where: \.ratioHasGrown) {
        readings = zip(readings, try benchmark.readings(workbench)).map { $0.joined(with: $1) }
      }
      progress.clear()
      for comparison in comparisons(benchmark, readings) {
        compared += comparison.isRecorded ? 1 : 0
        grown += comparison.hasGrown ? 1 : 0
        unknown += comparison.isRecorded ? 0 : 1
        let verdict = comparison.isRecorded ? comparison.hasGrown ? "GROWN  " : "ok     " : "UNKNOWN"
        print("\(verdict)  \(comparison.text)")
      }
      fflush(nil)
    }
    print("\(compared) figures compared with the record, \(grown) beyond their limit, \(unknown) not in the record.")
    if grown + unknown > 0 {
      let command = "hearth-bench --record \(BenchmarkRecord.path) --commit HASH --documents \(Self.documents)"
      print("Run \(command) to renew it.")
    }
    return grown == 0 && unknown == 0 && compared > 0
  }

  private func comparisons(_ benchmark: BenchmarkCase, _ readings: [Reading]) -> [RecordComparison] {
    readings.compactMap { reading in
      let line = ReportLine(benchmark.name, documents: Self.documents, reading, load: machineLoad())
      return RecordComparison(line, with: record)
    }
  }
}
