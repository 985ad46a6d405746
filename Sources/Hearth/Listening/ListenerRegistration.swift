// SPDX-License-Identifier: Apache-2.0

/// A listener that can be taken away again. Letting go of the registration does not stop the listener.
public protocol ListenerRegistration: Sendable {
  /// Stops the listener; a second call does nothing. Called on `FirestoreSettings.dispatchQueue`, no callback follows;
  /// called elsewhere, one that has already begun may still finish.
  func remove()
}
