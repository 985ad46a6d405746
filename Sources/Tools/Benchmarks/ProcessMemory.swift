// SPDX-License-Identifier: Apache-2.0
import Foundation

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
