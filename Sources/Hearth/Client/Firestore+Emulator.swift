// SPDX-License-Identifier: Apache-2.0

extension Firestore {
  /// Speaks without TLS to an emulator, or to `hearth serve`, whatever the app's backend is.
  ///
  /// Before the first use: later, or with a wrong host or port, nothing changes and every call fails with the reason,
  /// as for `settings`.
  /// - Parameters:
  ///   - host: a name or an address, without a port.
  ///   - port: 1…65535.
  public func useEmulator(withHost host: String, port: Int) {
    guard !host.isEmpty, (1...65535).contains(port) else {
      return refuse(
        .invalidArgument("useEmulator needs a host and a port of 1…65535, not \"\(host)\" and \(port)."))
    }
    let settings = settings
    // An IPv6 address contains colons itself.
    settings.setEmulator(host.contains(":") && !host.hasPrefix("[") ? "[\(host)]:\(port)" : "\(host):\(port)")
    self.settings = settings
  }
}
