/** The streams whose events are the revision of a user: the user's own, and that of the onboarding. */
export function userStreams(userId: string): readonly string[] {
  return [`user-${userId}`, `onboarding-${userId}`];
}
