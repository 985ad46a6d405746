// SPDX-License-Identifier: Apache-2.0
import BenchmarkResults
import CAllocationCount
import Foundation

/// The state of the clocks and of the allocator at the start of what is measured.
struct Start {
  private let instant = ContinuousClock.now
  private let processor = processorSeconds()
  private let allocations = allocation_count()

  /// - Parameter count: the number of operations since the start.
  func sample(count: Int = 1) -> Sample {
    let wall = instant.duration(to: .now) / .seconds(1)
    return Sample(
      wall: wall, cpu: processorSeconds() - processor, count: Double(count),
      allocations: Double(allocation_count() &- allocations))
  }
}

/// Measures `body` once.
func measure<R>(count: Int = 1, _ body: () throws -> R) rethrows -> (sample: Sample, result: R) {
  let start = Start()
  let result = try body()
  return (start.sample(count: count), result)
}

/// Measures `body` once, and all that it waits for.
@MainActor func measureAsync(count: Int = 1, _ body: () async throws -> Void) async rethrows -> Sample {
  let start = Start()
  try await body()
  return start.sample(count: count)
}

private func processorSeconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// The number of processes that want to run, averaged over a minute.
func machineLoad() -> Double {
  var loads = [0.0]
  return getloadavg(&loads, 1) == 1 ? loads[0] : 0
}

/// The memory of this process as the kernel counts it, in MB of 1 000 000 bytes. Systems without /proc have no figures.
enum ProcessMemory {
  /// The resident memory now.
  static var resident: Double? { figure("VmRSS:") }
  /// The most resident memory since the start of the process, or since it was forgotten.
  static var peak: Double? { figure("VmHWM:") }

  /// Lets the peak begin anew at what is resident now.
  /// - Returns: whether the kernel can do so.
  static func forgetPeak() -> Bool {
    guard let file = FileHandle(forWritingAtPath: "/proc/self/clear_refs") else { return false }
    // A kernel that refuses says so in the return value.
    return (try? file.write(contentsOf: Data("5".utf8))) != nil
  }

  private static func figure(_ name: String) -> Double? {
    // A missing file is the answer that there is no figure.
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
    return (line?.split(separator: " ").dropFirst().first.flatMap { Double($0) }).map { $0 * 1024 / 1e6 }
  }
}

/// The growth of this process's memory from a moment on, at its highest. Of the programs in this process all count: the
/// client, and a backend that is embedded.
struct MemoryGrowth {
  private let before: Double?

  init() { before = ProcessMemory.forgetPeak() ? ProcessMemory.resident : nil }

  /// The peak in MB above what the process had; `nil` where it cannot be known.
  var peak: Double? {
    guard let before, let peak = ProcessMemory.peak else { return nil }
    return max(0, peak - before)
  }
}
