// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Where documents go that could not be imported, one per line as they stood, so that they can be mended and imported.
final class RejectFile {
  private let path: String?
  private var descriptor: Int32?
  private let note: (String) -> Void

  /// Made with the first document.
  /// - Parameters:
  ///   - path: `nil` to write nothing.
  ///   - note: told why each document was rejected.
  init(_ path: String?, note: @escaping (String) -> Void) {
    self.path = path
    self.note = note
  }

  deinit {
    if let descriptor { close(descriptor) }
  }

  func add(_ rejections: [Rejection]) throws(CommandFailure) {
    for rejection in rejections {
      note(rejection.reason.text)
      guard let path else { continue }
      let descriptor = try opened(path)
      // Line breaks between the parts of JSON are white space.
      var line = rejection.record.bytes.map { $0 == 0x0a || $0 == 0x0d ? 0x20 : $0 }
      line.append(UInt8(ascii: "\n"))
      guard Glibc.write(descriptor, line, line.count) == line.count else {
        throw Self.failure(.inputOutput, path)
      }
    }
  }

  private func opened(_ path: String) throws(CommandFailure) -> Int32 {
    if let descriptor { return descriptor }
    let opened = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    if opened < 0 { throw Self.failure(.cannotCreate, path) }
    descriptor = opened
    return opened
  }

  private static func failure(_ status: ExitStatus, _ path: String) -> CommandFailure {
    CommandFailure(status, "\(path) cannot be written: \(String(cString: strerror(errno))).")
  }
}

extension Rejection.Reason {
  /// `line 3, column 14: …`
  var text: String {
    switch self {
    case .unreadable(let error): "\(error)"
    case .refused(let status, let place): "line \(place.line): \(status)"
    }
  }
}
