// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreGRPC
import FirestoreInspection
import FirestoreModel

extension AttachedBridge {
  /// Asks the program's server what its rules have decided, one question at a time.
  func listDecisions(after known: Int?) {
    guard let control = serverControl else {
      let reason = "The server of a watched program tells of its rules on this machine and without TLS only."
      return emit(.decisions(.failure(RPCStatus(.unimplemented, reason))))
    }
    if known != nil, asking != nil { return }
    asking?.cancel()
    asking = Task { [project = database.project] in
      let result = await control.decisions(of: project, after: known)
      if Task.isCancelled { return }
      asking = nil
      if let result { emit(.decisions(result)) }
    }
  }
}

extension EmulatorControl {
  /// `nil` for a program whose server is on another machine, or asks for more than to be on this one.
  init?(of greeting: InspectionGreeting) {
    guard case .emulator = greeting.backend, !greeting.isTLS, let host = greeting.host else { return nil }
    do throws(ModelError) {
      let endpoint = try Endpoint(host, defaultPort: 8080, security: .plaintext, from: "the program")
      guard endpoint.isLoopback else { return nil }
      self.init(endpoint, .emulatorOwner)
    } catch {
      // A host that has no address is not asked.
      return nil
    }
  }
}
