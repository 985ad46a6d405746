// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// The reason why a test on a ``TestStage`` failed: an expectation that was not met, or a call that cannot be.
///
/// It is thrown, so that a test ends at the first one, as with `#require` and `XCTUnwrap`: Swift Testing and XCTest both
/// report an error that a test throws, and neither needs to be linked for that. Its text has the file and the line of the
/// call, and the seed.
public struct StageFailure: Error, Hashable, Sendable {
  /// The kinds of failures.
  public enum Kind: Hashable, Sendable {
    /// An expectation was not met in time.
    case notInTime
    /// An event came that was not expected.
    case surprise
    /// Clients, or a client and the server, do not agree.
    case disagreement
    /// The call cannot be: unknown words, a name that is taken, a stage that is over.
    case misuse
  }

  /// The kind of the failure.
  public let kind: Kind
  /// The expectation and what happened instead, without place and seed.
  public let reason: String
  /// The file of the call, as `#fileID` names it.
  public let file: String
  /// The line of the call, counted from 1.
  public let line: Int
  /// The seed of the run.
  public let seed: UInt64
  /// The time from the beginning of the run until the failure.
  public let elapsed: Duration
}

extension StageFailure: CustomStringConvertible, LocalizedError {
  /// The place, the reason, and the seed with which the run can be repeated.
  public var description: String {
    let time = (elapsed / .milliseconds(1)).rounded() / 1000
    return "\(file):\(line): \(reason) "
      + "(\(time) s after the beginning; \(TestStage.seedVariable)=\(seed) repeats the run)"
  }

  /// The same as `description`.
  public var errorDescription: String? { description }
}

/// The place of a call in a test.
struct CallPlace: Sendable {
  var file: String
  var line: Int
}
