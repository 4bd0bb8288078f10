import { useQuery } from '@tanstack/react-query';
import { Client, Problem } from '../kit/client.js';
import { textAt, textsAt, type Row } from '../kit/fields.js';

/** The facts that the server writes into the page. */
export interface PortalFacts {
  readonly page: 'portal';
  readonly mode: string;
}

export const BRAND = 'Disburse portal';

/** The calls about the session, outside the data. */
export const site = new Client('');
export const api = new Client('/api/v1');

/** Returns the person and the merchant of the session (`GET /me`, admin-api.md 6), or null. */
export function useSession(enabled: boolean) {
  return useQuery({
    queryKey: ['session'],
    enabled,
    staleTime: 60_000,
    queryFn: async (): Promise<Row | null> => {
      try {
        return (await api.get('/me')).body;
      } catch (error) {
        if (error instanceof Problem && error.status === 401) return null;
        throw error;
      }
    },
  });
}

/** Clears the page if the session has ended (401). */
export function verifyPortalSession(): void {
  api.get('/me').catch(() => undefined);
}

export function scopesOf(session: Row): readonly string[] {
  return textsAt(session, 'scopes');
}

/** Returns the link to the merchant's own pages; null if the URL is not http or https. */
export function returnLink(session: Row | null | undefined): string | null {
  const url = textAt(session, 'return_url');
  return /^https?:\/\//i.test(url) && URL.canParse(url) ? url : null;
}

/** Exchanges the one-time code of a link for a session. `replace` also ends another merchant's session. */
export async function enter(code: string, replace: boolean): Promise<void> {
  await site.write({ method: 'POST', path: '/session', body: { code, replace } });
}

export async function signOut(): Promise<void> {
  await site.write({ method: 'POST', path: '/logout', body: {} }).catch(() => undefined);
}
