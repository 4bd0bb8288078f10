import type { SigningSecret } from './webhook-endpoints.js';

/** Rotations that are known again when their request is repeated. */
export const REMEMBERED_ROTATIONS = 100;

/** What an endpoint still needs at `at` of its secrets, newest first: the registration's is always among them. */
export function keptSecrets(secrets: readonly SigningSecret[], at: string): readonly SigningSecret[] {
  return secrets.filter(
    ({ rotationId, expiresAt }, index) =>
      index <= REMEMBERED_ROTATIONS || rotationId === null || expiresAt === null || expiresAt > at,
  );
}
