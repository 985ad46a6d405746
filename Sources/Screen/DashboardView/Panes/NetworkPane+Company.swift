// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreClientState
import TerminalCanvas

/// The line about the processes that use the embedded data together.
extension NetworkPane {
  /// The line about other processes; `nil` where this process is alone.
  var companyLine: Line? {
    guard let company = frame.state.storage.company, !company.isAlone else { return nil }
    let others = company.others.map { "\($0.name) \($0.process)" }.joined(separator: ", ")
    switch company.standing {
    case .owner: return fact("data", "open here, shared with \(others)", .text)
    case .attached(let owner):
      let more = others.isEmpty ? "" : ", shared with \(others)"
      return fact("data", "open in \(owner.name) \(owner.process)\(more)", .text)
    case .unreachable(let reason): return fact("data", reason, .warn)
    }
  }
}
