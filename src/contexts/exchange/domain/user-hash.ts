/** Replaces a `user_id` of an API key where the text itself is sealed. */
export function userHash(
  keyedHash: { of(...parts: readonly string[]): string },
  keyId: string,
  userId: string,
): string {
  return keyedHash.of('exchange user', keyId, userId);
}
