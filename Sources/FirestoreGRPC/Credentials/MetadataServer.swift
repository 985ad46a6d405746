// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// The server that each machine at Google has beside it, which knows the machine's service account.
enum MetadataServer {
  static let host = "metadata.google.internal"
  private static let path = "/computeMetadata/v1/instance/service-accounts/default/token"

  static func url(host: String) throws(RPCStatus) -> HTTPURL {
    guard let url = HTTPURL("http://" + host + path) else {
      throw RPCStatus(.unauthenticated, "GCE_METADATA_HOST \"\(host)\" is not a host name.")
    }
    return url
  }

  static func fetchToken(from url: HTTPURL, at now: Int64) async throws(RPCStatus) -> AccessToken {
    let response: HTTPResponse
    do throws(RPCStatus) {
      response = try await HTTPRequest(method: .get, url: url, headers: [("Metadata-Flavor", "Google")])
        .perform()
    } catch {
      throw RPCStatus(
        .unauthenticated,
        "There are no credentials: no file is named, gcloud has none, and no metadata server answers. "
          + "Name a key file with --credentials or GOOGLE_APPLICATION_CREDENTIALS.")
    }
    guard response.status == 200 else {
      throw RPCStatus(
        .unauthenticated,
        "The metadata server \(url.host) has no service account for this machine "
          + "(HTTP \(response.status)).")
    }
    return try TokenResponse.token(in: response, from: url, at: now)
  }
}
