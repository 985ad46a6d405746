// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState

extension DashboardState {
  /// The news is who has the data: that it changed hands explains what was slow for a moment.
  mutating func receive(_ company: DataCompany) {
    self.company = company
    // Told as the reason of the outage that it comes to, if it lasts.
    if case .unreachable = company.standing { return }
    let before = dataStanding
    dataStanding = company.standing
    switch (before, company.standing) {
    case (.attached(let owner), .owner):
      toast(.info, "This process has the data open now, in place of \(owner.name) \(owner.process).")
    case (.some(let before), .attached(let owner)) where before != company.standing:
      toast(.info, "\(owner.name) \(owner.process) has the data open now.")
    default: break
    }
  }
}
