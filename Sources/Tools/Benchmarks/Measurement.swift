// SPDX-License-Identifier: Apache-2.0
import Foundation

/// One repetition: its duration, and the time that this process's threads were running meanwhile. On a busy machine
/// only the latter says something about the code.
struct Sample {
  /// The duration in seconds.
  var wall: Double
  /// The processor time in seconds.
  var cpu: Double
  /// The number of operations or documents in that time.
  var count = 1.0

  mutating func add(_ other: Sample) {
    wall += other.wall
    cpu += other.cpu
  }
}

/// Measures `body` once.
func measure<R>(count: Int = 1, _ body: () throws -> R) rethrows -> (sample: Sample, result: R) {
  let clock = ContinuousClock()
  let processor = processorSeconds()
  let start = clock.now
  let result = try body()
  let wall = start.duration(to: clock.now) / .seconds(1)
  return (Sample(wall: wall, cpu: processorSeconds() - processor, count: Double(count)), result)
}

/// Measures `body` once, and all that it waits for.
@MainActor func measureAsync(count: Int = 1, _ body: () async throws -> Void) async rethrows -> Sample {
  let clock = ContinuousClock()
  let processor = processorSeconds()
  let start = clock.now
  try await body()
  let wall = start.duration(to: clock.now) / .seconds(1)
  return Sample(wall: wall, cpu: processorSeconds() - processor, count: Double(count))
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

enum Unit: String {
  case milliseconds = "ms"
  case microseconds = "us"
  case documentsPerSecond = "docs/s"
  case megabytes = "MB"

  /// - Parameter seconds: the time of all `count` operations together.
  func value(_ seconds: Double, _ count: Double) -> Double {
    switch self {
    case .milliseconds: seconds * 1e3 / count
    case .microseconds: seconds * 1e6 / count
    case .documentsPerSecond: seconds > 0 ? count / seconds : 0
    case .megabytes: count
    }
  }

  var isBetterWhenHigher: Bool { self == .documentsPerSecond }
}

extension Array where Element == Double {
  /// The middle value; of an even number the lower of the two in the middle. 0 for none.
  var median: Double { isEmpty ? 0 : sorted()[(count - 1) / 2] }
}
