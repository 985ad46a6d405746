// SPDX-License-Identifier: Apache-2.0

/// What a server timestamp reads as until the backend has set it.
public enum ServerTimestampBehavior: Hashable, Sendable {
  /// `NSNull`.
  case none
  /// This device's time of the write.
  case estimate
  /// What the field held before; `NSNull` if nothing.
  case previous
}
