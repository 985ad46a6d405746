// SPDX-License-Identifier: Apache-2.0
import CryptoExtras
import FirestoreGRPC
import FirestoreModel
import FirestoreProtocol
import FirestoreTesting
import Foundation
import GRPCCore
import NIOHTTP1
import Synchronization
import Testing

@Suite("Credentials", .timeLimit(.minutes(10)))
struct CredentialTests {
  private static let pem = (try? _RSA.Signing.PrivateKey(keySize: .bits2048))?.pemRepresentation ?? ""

  private let folder = TemporaryFolder()

  private func file(_ fields: [String: String]) throws -> String {
    let name = "\(UUID().uuidString).json"
    try folder.write(name, String(decoding: try JSONEncoder().encode(fields), as: UTF8.self))
    return folder(name)
  }

  private func serviceAccount() throws -> String {
    try file([
      "type": "service_account", "client_email": "robot@p.iam.gserviceaccount.com", "private_key_id": "k1",
      "private_key": Self.pem,
    ])
  }

  private func user(_ server: TokenServer, token: String = "refresh/+me") throws -> String {
    try file([
      "type": "authorized_user", "client_id": "me", "client_secret": "s3cret&", "refresh_token": token,
      "token_uri": "http://127.0.0.1:\(server.port)/token",
    ])
  }

  /// The `authorization` headers of calls that `body` makes; `refused` of them answer "unauthenticated" first.
  private func headers(
    refused: Int = 0, _ credentials: Credentials, _ body: @escaping @Sendable (GRPCDatastore) async throws -> Void
  ) async throws -> [String] {
    let seen = Mutex<[String]>([])
    var server = ScriptedServer()
    let record: @Sendable (String) -> Int = { header in
      seen.withLock {
        $0.append(header)
        return $0.count
      }
    }
    server.handle(.listCollectionIDs) { metadata, _, send in
      let count = record(Array(metadata[stringValues: "authorization"]).joined())
      if count <= refused { throw RPCError(code: .unauthenticated, message: "Invalid token.") }
      try await send.write([])
    }
    try await server.run { endpoint in
      let datastore = GRPCDatastore(
        endpoint, database: Samples.database, credentials: credentials, allowsInsecureCredentials: true)
      try await body(datastore)
      await datastore.close()
    }
    return seen.withLock { $0 }
  }

  private static let grant: @Sendable (Int) -> (HTTPResponseStatus, String) = { number in
    (.ok, #"{"access_token": "granted-\#(number)", "expires_in": 3600, "token_type": "Bearer"}"#)
  }

  @Test("A service account signs a one-hour token and renews it before it expires")
  func selfSigned() async throws {
    let path = try serviceAccount()
    let clock = TestClock(seconds: 1_800_000_000)
    let credentials = Credentials.application(file: path, environment: [:], now: clock.now)
    let headers = try await headers(credentials) { datastore in
      for step in [0, 3200, 200] as [Int64] {
        clock.advance(seconds: step)
        _ = try await datastore.listCollectionIDs(below: .root)
      }
    }
    try #require(headers.count == 3)
    #expect(headers[0] == headers[1])
    #expect(headers[1] != headers[2])
    let parts = headers[0].dropFirst("Bearer ".count).split(separator: ".").map(String.init)
    try #require(parts.count == 3)
    let header = try JSONDecoder().decode([String: String].self, from: Data(base64URL: parts[0]))
    #expect(header == ["alg": "RS256", "typ": "JWT", "kid": "k1"])
    let claims = try JSONDecoder().decode(Claims.self, from: Data(base64URL: parts[1]))
    #expect(claims.iss == "robot@p.iam.gserviceaccount.com" && claims.sub == claims.iss)
    #expect(claims.aud == "https://127.0.0.1/")
    #expect(claims.iat == 1_800_000_000 && claims.exp == claims.iat + 3600)
    let key = try _RSA.Signing.PrivateKey(pemRepresentation: Self.pem).publicKey
    let signature = _RSA.Signing.RSASignature(rawRepresentation: Data(base64URL: parts[2]))
    let content = Data((parts[0] + "." + parts[1]).utf8)
    #expect(key.isValidSignature(signature, for: content, padding: .insecurePKCS1v1_5))
  }

  @Test("A service account token's audience is the called host, or one for all of Google")
  func audience() async throws {
    let path = try serviceAccount()
    let credentials = Credentials.application(file: path, environment: [:], now: { Timestamp(seconds: 0) })
    for (host, audience) in [
      ("firestore.googleapis.com", "https://firestore.googleapis.com/"), ("Example.com", "https://example.com/"),
      ("nam5-firestore.googleapis.com.", "https://firestore.googleapis.com/"),
      ("firestore.googleapis.com.example.com", "https://firestore.googleapis.com.example.com/"),
    ] {
      let endpoint = Endpoint(host: host, port: 443, security: .tls(trustRoots: nil))
      let header = try #require(try await credentials.authorization(for: endpoint))
      let claims = try #require(header.split(separator: ".").dropFirst().first)
      #expect(try JSONDecoder().decode(Claims.self, from: Data(base64URL: String(claims))).aud == audience)
    }
  }

  @Test("Without TLS only emulator credentials are sent, unless others are allowed")
  func plainText() async throws {
    let server = try await TokenServer(answer: Self.grant)
    let (account, user) = (try serviceAccount(), try user(server))
    let endpoint = Endpoint(host: "firestore.googleapis.com", port: 80, security: .plaintext)
    for file in [account, user, nil] {
      let credentials =
        file.map { Credentials.application(file: $0, environment: [:], now: { Timestamp(seconds: 0) }) }
        ?? .fixed(Secret("hush-hush"))
      let datastore = GRPCDatastore(endpoint, database: Samples.database, credentials: credentials)
      let status = await #expect(throws: RPCStatus.self) { try await datastore.listCollectionIDs(below: .root) }
      #expect(status?.code == .failedPrecondition && status?.message.contains("allowsInsecureCredentials") == true)
      #expect(try await credentials.authorization(for: endpoint, isTrusting: true)?.hasPrefix("Bearer ") == true)
      await datastore.close()
    }
    #expect(Credentials.emulatorOwner.refusal(at: endpoint) == nil)
    #expect(server.requests.count == 1)
    try await server.close()
  }

  @Test("A user's access token is requested only for Google and allowed hosts")
  func accessToken() async throws {
    let server = try await TokenServer(answer: Self.grant)
    let path = try user(server)
    let credentials = Credentials.application(file: path, environment: [:], now: { Timestamp(seconds: 0) })
    let other = Endpoint(host: "example.com", port: 443, security: .tls(trustRoots: nil))
    let status = await #expect(throws: RPCStatus.self) { try await credentials.authorization(for: other) }
    #expect(status?.code == .failedPrecondition && status?.message.contains("--insecure-credentials") == true)
    #expect(server.requests.isEmpty)
    #expect(try await credentials.authorization(for: .cloudFirestore) == "Bearer granted-1")
    #expect(try await credentials.authorization(for: other, isTrusting: true)?.hasPrefix("Bearer granted-") == true)
    try await server.close()
  }

  @Test("A refresh token is exchanged again shortly before the access token expires")
  func refreshToken() async throws {
    let server = try await TokenServer(answer: Self.grant)
    let path = try user(server)
    let clock = TestClock(seconds: 1_800_000_000)
    let credentials = Credentials.application(
      environment: ["GOOGLE_APPLICATION_CREDENTIALS": path], now: clock.now)
    let headers = try await headers(credentials) { datastore in
      for step in [0, 3200, 200] as [Int64] {
        clock.advance(seconds: step)
        _ = try await datastore.listCollectionIDs(below: .root)
      }
    }
    #expect(headers == ["Bearer granted-1", "Bearer granted-1", "Bearer granted-2"])
    let request = try #require(server.requests.first)
    #expect(request.head.uri == "/token")
    #expect(
      request.body == "client_id=me&client_secret=s3cret%26&grant_type=refresh_token&refresh_token=refresh%2F%2Bme")
    try await server.close()
  }

  @Test("A rejected token is replaced once, and a second rejection fails with advice")
  func unauthenticated() async throws {
    let server = try await TokenServer(answer: Self.grant)
    let path = try user(server)
    let credentials = Credentials.application(file: path, environment: [:], now: { Timestamp(seconds: 0) })
    let once = try await headers(refused: 1, credentials) { _ = try await $0.listCollectionIDs(below: .root) }
    #expect(once == ["Bearer granted-1", "Bearer granted-2"])
    let twice = try await headers(refused: 9, credentials) { datastore in
      let status = await #expect(throws: RPCStatus.self) { try await datastore.listCollectionIDs(below: .root) }
      #expect(status?.code == .unauthenticated)
      #expect(status?.message.contains("clock") == true)
    }
    #expect(twice == ["Bearer granted-2", "Bearer granted-3"])
    try await server.close()
  }

  @Test("A failing or invalid token response is quoted without secrets")
  func refusals() async throws {
    let answers: [(HTTPResponseStatus, String, StatusCode, String)] = [
      (
        .badRequest, #"{"error": "invalid_grant", "error_description": "Token has been revoked."}"#, .unauthenticated,
        "invalid_grant: Token has been revoked."
      ),
      (.internalServerError, "oops", .unavailable, "HTTP 500"),
      (.ok, "oops", .unavailable, "an invalid response"),
    ]
    for (status, body, code, text) in answers {
      let server = try await TokenServer { _ in (status, body) }
      let path = try user(server)
      let credentials = Credentials.application(file: path, environment: [:], now: { Timestamp(seconds: 0) })
      _ = try await headers(credentials) { datastore in
        let failure = await #expect(throws: RPCStatus.self) { try await datastore.listCollectionIDs(below: .root) }
        #expect(failure?.code == code)
        #expect(failure?.message.contains(text) == true, "\(failure?.message ?? "")")
        #expect(failure?.message.contains("refresh/+me") == false)
      }
      try await server.close()
    }
  }

  @Test("Without a key file the metadata server is used")
  func metadataServer() async throws {
    let server = try await TokenServer(answer: Self.grant)
    let environment = ["GCE_METADATA_HOST": "127.0.0.1:\(server.port)", "HOME": "/nonexistent"]
    let credentials = Credentials.application(environment: environment, now: { Timestamp(seconds: 0) })
    let headers = try await headers(credentials) { _ = try await $0.listCollectionIDs(below: .root) }
    #expect(headers == ["Bearer granted-1"])
    let request = try #require(server.requests.first)
    #expect(request.head.headers["metadata-flavor"] == ["Google"])
    #expect(request.head.uri == "/computeMetadata/v1/instance/service-accounts/default/token")
    try await server.close()
    let status = try await withoutServer(
      Credentials.application(environment: environment, now: { Timestamp(seconds: 0) }))
    #expect(status.code == .unauthenticated)
    #expect(status.message.contains("--credentials"))
  }

  private func withoutServer(_ credentials: Credentials) async throws -> RPCStatus {
    let datastore = GRPCDatastore(
      Endpoint(host: "127.0.0.1", port: 1, security: .plaintext), database: Samples.database, credentials: credentials,
      allowsInsecureCredentials: true)
    let status = await #expect(throws: RPCStatus.self) { try await datastore.listCollectionIDs(below: .root) }
    await datastore.close()
    return try #require(status)
  }

  @Test(
    "A missing, malformed or incomplete key file is reported with the problem",
    arguments: [
      (nil, "cannot be read"), ("{", "not JSON"), ("[]", "not JSON"), (#"{"type": "sorcery"}"#, "sorcery"),
      (#"{"type": "service_account", "client_email": "a@b"}"#, "\"private_key\""),
      (#"{"type": "service_account", "client_email": "a@b", "private_key": "TOP-SECRET"}"#, "not an RSA key"),
      (#"{"type": "authorized_user", "client_id": "a"}"#, "\"client_secret\""),
    ] as [(String?, String)])
  func badFiles(_ content: String?, _ reason: String) throws {
    let path = folder("account.json")
    if let content { try folder.write("account.json", content) }
    let status = #expect(throws: RPCStatus.self) {
      try Credentials.application(file: path, environment: [:], now: { Timestamp(seconds: 0) }).check()
    }
    #expect(status?.code == .unauthenticated)
    #expect(status?.message.contains(path) == true)
    #expect(status?.message.contains(reason) == true, "\(status?.message ?? "")")
    #expect(status?.message.contains("TOP-SECRET") == false)
  }

  @Test("Descriptions, dumps and interpolations of credentials contain no secrets")
  func secrecy() throws {
    let path = try serviceAccount()
    let account = Credentials.application(file: path, environment: [:], now: { Timestamp(seconds: 0) })
    try account.check()
    let line = Self.pem.split(separator: "\n")[1]
    for value in [Secret("hush-hush"), Credentials.fixed(Secret("hush-hush")), account] as [Any] {
      var dumped = ""
      dump(value, to: &dumped)
      for text in ["\(value)", String(reflecting: value), dumped] {
        #expect(!text.contains("hush-hush"))
        #expect(!text.contains(line))
      }
    }
    #expect("\(account)" == "the service account robot@p.iam.gserviceaccount.com")
  }
}

private struct Claims: Decodable {
  var iss: String
  var sub: String
  var aud: String
  var iat: Int64
  var exp: Int64
}

extension Data {
  fileprivate init(base64URL text: String) {
    var text = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
    text += String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    self = Data(base64Encoded: text) ?? Data()
  }
}
