// SPDX-License-Identifier: Apache-2.0
import BenchmarkResults
import CAllocationCount
import Foundation

/// The state of the clocks and of the allocator at the start of a measurement.
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

/// Measures `body` once, including everything that it waits for.
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

/// The number of runnable processes, averaged over a minute.
func machineLoad() -> Double {
  var loads = [0.0]
  return getloadavg(&loads, 1) == 1 ? loads[0] : 0
}

/// The memory of this process according to the kernel, in MB of 1 000 000 bytes; `nil` on systems without /proc.
enum ProcessMemory {
  /// The current resident memory.
  static var resident: Double? { figure("VmRSS:") }
  /// The peak resident memory since the start of the process, or since the last reset.
  static var peak: Double? { figure("VmHWM:") }

  /// Resets the peak to the current resident memory.
  /// - Returns: whether the kernel supports this.
  static func forgetPeak() -> Bool {
    guard let file = FileHandle(forWritingAtPath: "/proc/self/clear_refs") else { return false }
    // The return value shows whether the kernel rejects this.
    return (try? file.write(contentsOf: Data("5".utf8))) != nil
  }

  private static func figure(_ name: String) -> Double? {
    // The memory is unknown if the file is missing.
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
    return (line?.split(separator: " ").dropFirst().first.flatMap { Double($0) }).map { $0 * 1024 / 1e6 }
  }
}

/// The growth of this process's memory to its peak since a point in time. Includes everything in the process, such as
/// the client and an embedded backend.
struct MemoryGrowth {
  private let before: Double?

  init() { before = ProcessMemory.forgetPeak() ? ProcessMemory.resident : nil }

  /// The growth from the start to the peak, in MB; `nil` if unknown.
  var peak: Double? {
    guard let before, let peak = ProcessMemory.peak else { return nil }
    return max(0, peak - before)
  }
}
