// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import HearthCommand

@Suite("Service manager socket")
struct ServiceManagerTests {
  private func reason(_ address: String) -> ServiceManagerError.Reason? {
    do throws(ServiceManagerError) { _ = try ServiceManager(environment: ["NOTIFY_SOCKET": address]) } catch {
      #expect(error.text.hasPrefix("NOTIFY_SOCKET=\(address) ") && error.text.contains("Serving continues"))
      return error.reason
    }
    return nil
  }

  @Test("Without NOTIFY_SOCKET, or with an empty one, no service manager is notified")
  func unset() throws {
    #expect(try ServiceManager(environment: [:]) == nil)
    #expect(try ServiceManager(environment: ["NOTIFY_SOCKET": ""]) == nil)
  }

  @Test("A NOTIFY_SOCKET address is a path or an abstract name of at most 108 bytes")
  func addresses() {
    for address in ["/run/systemd/notify", "@notify", "/" + String(repeating: "n", count: 107)] {
      #expect(reason(address) == nil)
    }
    for address in ["notify", "vsock:2:1234", "/", "@"] { #expect(reason(address) == .form) }
    #expect(reason("/" + String(repeating: "n", count: 108)) == .length)
    #expect(reason("@" + String(repeating: "é", count: 54)) == .length)
  }

  @Test("A service status text cannot inject other assignments")
  func oneLine() {
    #expect(ServiceManager.Notice.ready("a\nMAINPID=1\r\nb\0c").text == "READY=1\nSTATUS=a MAINPID=1 b c")
    #expect(ServiceManager.Notice.stopping.text.hasPrefix("STOPPING=1\nSTATUS="))
  }
}
