// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import Foundation

/// What Linux tells of a process (proc(5)).
struct ProcessFigures {
  /// Time in user and system mode, in hundredths of a second.
  let cpuTicks: Int
  let residentBytes: Int

  init(_ process: pid_t) throws {
    // The name, in parentheses, may hold anything; fields 14 and 15 are counted from behind it.
    let stat = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
    let fields = stat[(stat.lastIndex(of: ")") ?? stat.startIndex)...].split(separator: " ")
    guard fields.count > 22, let user = Int(fields[12]), let system = Int(fields[13]), let pages = Int(fields[22])
    else { throw Failure("/proc/\(process)/stat: \(stat)") }
    cpuTicks = user + system
    residentBytes = pages * Int(sysconf(Int32(_SC_PAGESIZE)))
  }
}
