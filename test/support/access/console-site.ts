import { CommandBus } from '@nestjs/cqrs';
import { CreateOperator } from '../../../src/contexts/access/application/operator-commands.js';
import { LoginLinks } from '../../../src/contexts/access/application/console/login-links.js';
import { newId } from '../../../src/kernel/ids.js';
import { freePort } from '../../../sandbox/processes.js';
import { startTestApp, type TestApp, type TestSettings } from '../app.js';
import { CookieClient } from './cookie-client.js';
import { OidcIssuer } from './oidc-issuer.js';

interface Operator {
  readonly id: string;
  readonly email: string;
}

/** A service whose console people open at `origin`. */
export async function startConsole(settings: TestSettings = {}) {
  const port = await freePort();
  const origin = `http://localhost:${port}`;
  const issuer = await OidcIssuer.start(`${origin}/login/oidc/callback`);
  const app: TestApp = await startTestApp({
    ADMIN_PORT: String(port),
    ADMIN_URL: origin,
    ADMIN_OIDC_ISSUER: issuer.url,
    ADMIN_OIDC_CLIENT_ID: issuer.clientId,
    ADMIN_OIDC_CLIENT_SECRET: issuer.clientSecret,
    ADMIN_OIDC_CLAIM: 'hd=example.com',
    ADMIN_OIDC_ROLES: 'admins=administrator,helpers=viewer,staff=support',
    ...settings,
  });
  const operator = async (role = 'support'): Promise<Operator> => {
    const id = newId();
    const email = `${id}@example.com`;
    const command = new CreateOperator(id, { name: 'Ada', email, role });
    await app.app.get(CommandBus).execute(command);
    return { id, email };
  };
  const linkOf = (id: string): Promise<string> => app.app.get(LoginLinks, { strict: false }).issue(id);
  const tokenOf = async (id: string): Promise<string> => (await linkOf(id)).split('#')[1]!;
  /** A browser of the person, signed in by a link as in the sandbox. */
  const signedIn = async (role?: string): Promise<Operator & { readonly browser: CookieClient }> => {
    const person = await operator(role);
    const browser = new CookieClient(origin);
    const login = await browser.post('/login/link', { token: await tokenOf(person.id) });
    if (login.status !== 204) throw new Error(login.text);
    return { ...person, browser };
  };
  const close = async (): Promise<void> => {
    await app.close();
    await issuer.stop();
  };
  return { app, origin, issuer, operator, linkOf, tokenOf, signedIn, close };
}

export type Console = Awaited<ReturnType<typeof startConsole>>;

/** What `GET /session` responds with. */
export interface Session {
  readonly operator: { readonly id: string; readonly role: string };
  readonly scopes: readonly string[];
  readonly decisions: readonly string[];
  readonly method: string;
}
