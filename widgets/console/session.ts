import { startAuthentication, startRegistration } from '@simplewebauthn/browser';
import { useQuery } from '@tanstack/react-query';
import { Client, Problem, theRows } from '../kit/client.js';
import type { Change } from '../kit/conflict.js';
import { at, textAt, textsAt, type Row } from '../kit/fields.js';

/** The facts that the server writes into the page. */
export interface ConsoleFacts {
  readonly page: 'console';
  /** True if people sign in with an identity provider instead of passkeys. */
  readonly oidc: boolean;
  /** The lifetime of a session without a request, in seconds. */
  readonly idle_seconds: number;
  readonly mode: string;
}

/** The calls about the session, outside the admin API. */
export const site = new Client('');
export const api = new Client('/admin/v1');

/** Returns the person who is signed in, or null. */
export function useSession() {
  return useQuery({
    queryKey: ['session'],
    staleTime: 60_000,
    queryFn: async (): Promise<Row | null> => {
      try {
        return (await site.get('/session')).body;
      } catch (error) {
        if (!(error instanceof Problem && error.status === 401)) throw error;
        api.onSignedOut();
        return null;
      }
    },
  });
}

/** Clears the page if the session has ended, in this tab or another. */
export async function verifySession(): Promise<void> {
  await site.get('/session').catch((error: unknown) => {
    if (error instanceof Problem && error.status === 401) api.onSignedOut();
  });
}

export function scopesOf(session: Row): readonly string[] {
  return textsAt(session, 'scopes');
}

/** Returns the names of the operations that the person may approve, reject and confirm. */
export function decisionsOf(session: Row): readonly string[] {
  return textsAt(session, 'decisions');
}

/** Returns the operations that were executed on an object since the revision `etag`. */
export async function operationsSince(id: string, etag: string | null): Promise<readonly Change[]> {
  const { body } = await api.get('/operations', { subject_id: id });
  const revision = Number(etag?.replaceAll('"', ''));
  return theRows(body)
    .filter((row) => textAt(row, 'executed_at') !== '' && Number(at(row, 'subject.revision')) >= revision)
    .map((row) => ({
      by: textAt(row, 'requested_by.name'),
      operation: textAt(row, 'name'),
      at: textAt(row, 'executed_at'),
      reason: textAt(row, 'reason'),
    }));
}

type Options = Parameters<typeof startAuthentication>[0]['optionsJSON'];
type Creation = Parameters<typeof startRegistration>[0]['optionsJSON'];

/** Signs in with a passkey of this device. */
export async function signInByPasskey(): Promise<void> {
  const { body } = await site.write({ method: 'POST', path: '/login/passkey/options', body: {} });
  const response = await startAuthentication({ optionsJSON: body as unknown as Options });
  await site.write({ method: 'POST', path: '/login/passkey', body: response });
}

/** Redirects to the identity provider, which leads back to this path. The promise never resolves. */
export function signInAtProvider(path: string): Promise<never> {
  location.assign(`/login/oidc?return_to=${encodeURIComponent(path)}`);
  return new Promise(() => undefined);
}

/** Creates a passkey on this device, by a one-time link. */
export async function enrol(token: string): Promise<void> {
  const { body } = await site.write({ method: 'POST', path: '/enrol/options', body: { token } });
  const response = await startRegistration({ optionsJSON: body as unknown as Creation });
  await site.write({ method: 'POST', path: '/enrol', body: { token, response } });
}

/** Signs in with a one-time link and without a passkey. Available in the sandbox only. */
export async function signInByLink(token: string): Promise<void> {
  await site.write({ method: 'POST', path: '/login/link', body: { token } });
}

export async function signOut(): Promise<void> {
  await site.write({ method: 'POST', path: '/logout', body: {} }).catch(() => undefined);
}

/** Explains a failed login to a person. */
export function signInTrouble(error: unknown): string {
  if (error instanceof Problem) return error.detail || error.title;
  const name = textAt(error, 'name') || (error instanceof Error ? error.name : '');
  if (name === 'NotAllowedError' || name === 'AbortError')
    return 'The passkey was not used: the dialog of the browser was closed or took too long.';
  if (name === 'InvalidStateError')
    return 'This device already has a passkey for this console. Sign in with it.';
  return 'This browser cannot use passkeys here. Use another browser or your identity provider.';
}
