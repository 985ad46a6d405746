// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState

extension DashboardState {
  /// The news is who has the data: that it changed hands explains what was slow for a moment.
  mutating func receive(_ company: DataCompany) {
    defer { self.company = company }
    guard let before = self.company?.standing, before != company.standing else { return }
    switch company.standing {
    case .owner: toast(.info, "The process that had the data open is gone; this one has it open now.")
    case .attached(let owner): toast(.info, "\(owner.name) \(owner.process) has the data open now.")
    // Told as the reason of the outage that it comes to, if it lasts.
    case .unreachable: break
    }
  }
}
