// SPDX-License-Identifier: Apache-2.0
import FirestoreGRPC
import FirestoreModel
import Testing

@Suite("Backend addresses")
struct EndpointTests {
  @Test(
    "Every common notation of a backend address is parsed",
    arguments: [
      ("127.0.0.1:8080", "127.0.0.1", 8080), ("localhost:1", "localhost", 1),
      ("http://localhost:8080/", "localhost", 8080),
      ("[::1]:8080", "::1", 8080), ("[::1]", "::1", 443), ("example.com", "example.com", 443),
    ])
  func spellings(_ text: String, _ host: String, _ port: Int) throws {
    let endpoint = try Endpoint(text, defaultPort: 443, security: .plaintext, from: "--emulator")
    #expect(endpoint == Endpoint(host: host, port: port, security: .plaintext))
  }

  @Test(
    "An invalid address is rejected with its origin and the expected form",
    arguments: [
      "", ":8080", "localhost", "localhost:", "localhost:x", "localhost:0", "localhost:65536", "::1:80", "[::1:80",
      "[::1]80", "a b:80", "a/b:80", "a\u{301}:80",
    ])
  func nonsense(_ text: String) {
    let error = #expect(throws: ModelError.self) {
      try Endpoint(text, security: .plaintext, from: "FIRESTORE_EMULATOR_HOST")
    }
    #expect(error?.message.contains("FIRESTORE_EMULATOR_HOST") == true)
    #expect(error?.message.contains("HOST:PORT") == true)
  }

  @Test("A scheme that conflicts with the connection's security is rejected with a hint")
  func schemes() throws {
    for (text, security, remedy) in [
      ("https://h:1", Endpoint.Security.plaintext, "--host"), ("HTTPS://h:1/", .plaintext, "--host"),
      ("http://h:1", .tls(trustRoots: nil), "--emulator"),
    ] {
      let error = #expect(throws: ModelError.self) { try Endpoint(text, security: security, from: "--emulator") }
      #expect(error?.message.contains(text) == true && error?.message.contains(remedy) == true)
    }
    #expect(try Endpoint("https://h:1", security: .tls(trustRoots: nil), from: "--host").text == "h:1")
  }

  @Test("A backend address is displayed as typed")
  func text() {
    #expect(Endpoint(host: "::1", port: 80, security: .plaintext).text == "[::1]:80")
    #expect(Endpoint.cloudFirestore.text == "firestore.googleapis.com:443")
  }
}
