import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

type IssuedClaims = Readonly<Record<string, unknown>>;

/** An OpenID provider (package oidc-provider) on loopback. Signs everybody in as the person of `claims`. */
export class OidcIssuer {
  private claims: IssuedClaims = {};
  private at: number | null = null;

  private constructor(
    readonly url: string,
    readonly clientId: string,
    readonly clientSecret: string,
    readonly stop: () => Promise<void>,
  ) {}

  static async start(redirectUri: string): Promise<OidcIssuer> {
    let handle: (request: IncomingMessage, response: ServerResponse) => void = () => undefined;
    const server = createServer((request, response) => handle(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const issuer = new OidcIssuer(url, 'console', 'a secret of the console', async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    const provider = issuer.provider(redirectUri);
    const callback = provider.callback();
    handle = (request, response) => {
      if (request.url?.startsWith('/interaction/') === true) {
        const result = { login: { accountId: 'person', ...(issuer.at !== null && { ts: issuer.at }) } };
        void provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
      } else void callback(request, response);
    };
    return issuer;
  }

  /** Sets the person at the browser. `at` is the time of the login in epoch seconds; null is now. */
  signInAs(claims: IssuedClaims, at: number | null = null): void {
    this.claims = claims;
    this.at = at;
  }

  private provider(redirectUri: string): Provider {
    const { clientId, clientSecret } = this;
    return new Provider(this.url, {
      clients: [
        {
          client_id: clientId,
          client_secret: clientSecret,
          redirect_uris: [redirectUri],
          grant_types: ['authorization_code'],
          response_types: ['code'],
        },
      ],
      cookies: { keys: ['a key of the issuer'] },
      claims: { openid: ['sub'], email: ['email', 'email_verified', 'groups', 'hd'], profile: ['name'] },
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_, { uid }) => `/interaction/${uid}` },
      pkce: { required: () => true },
      findAccount: (_, id) => ({ accountId: id, claims: () => ({ ...this.claims, sub: id }) }),
      // The console belongs to the operator, so that no consent is requested.
      loadExistingGrant: async ({ oidc }) => {
        const grant = new oidc.provider.Grant({
          clientId: oidc.client!.clientId,
          accountId: oidc.session!.accountId!,
        });
        grant.addOIDCScope('openid email profile');
        await grant.save();
        return grant;
      },
    });
  }
}
