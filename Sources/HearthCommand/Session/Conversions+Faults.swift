// SPDX-License-Identifier: Apache-2.0
import Dashboard
import FirestoreBackend

extension FaultInjector {
  /// Calm settings also take back the faults that wait for a write.
  func apply(_ settings: FaultSettings) {
    if settings.isCalm { withdrawWriteFaults() }
    update { faults in
      faults.latency = settings.latency
      faults.jitter = settings.jitter
      faults.acknowledgementLoss = Double(settings.lostAcknowledgements) / 100
      faults.isOffline = settings.isUnplugged
      faults.isHalfOpen = settings.isSilent
    }
  }
}

extension FaultInjector.WriteFault {
  init(_ fault: WriteFault) {
    self =
      switch fault {
      case .dropRequest: .dropRequest
      case .dropAcknowledgement: .dropAcknowledgement
      case .reject(let code): .reject(code)
      }
  }
}
