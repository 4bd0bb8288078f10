import { Inject, Injectable } from '@nestjs/common';
import * as openid from 'openid-client';
import { ProviderRefused, ProviderUnavailable } from '../../../platform/outbound/provider-errors.js';
import { IdentityProvider, type Claims, type OidcAttempt } from '../application/console/oidc-login.js';
import { accessConfig, type AccessConfig } from '../settings.js';

const TIMEOUT_SECONDS = 10;
/** A login at the provider from before that is no login here (admin-api.md 5). */
const MAX_AGE_SECONDS = 300;

/** {@link IdentityProvider} by openid-client; the provider's own document is read once. */
@Injectable()
export class OpenidProvider extends IdentityProvider {
  private discovered: Promise<openid.Configuration> | null = null;

  constructor(@Inject(accessConfig.KEY) private readonly config: AccessConfig) {
    super();
  }

  get isConfigured(): boolean {
    return this.config.adminOidcIssuer !== null;
  }

  async begin(
    redirectUri: string,
    from: Pick<OidcAttempt, 'returnTo' | 'former'>,
  ): Promise<{ url: string; attempt: OidcAttempt }> {
    const provider = await this.provider();
    const attempt = {
      state: openid.randomState(),
      nonce: openid.randomNonce(),
      verifier: openid.randomPKCECodeVerifier(),
      ...from,
    };
    const url = openid.buildAuthorizationUrl(provider, {
      redirect_uri: redirectUri,
      scope: 'openid email profile',
      state: attempt.state,
      nonce: attempt.nonce,
      code_challenge: await openid.calculatePKCECodeChallenge(attempt.verifier),
      code_challenge_method: 'S256',
      max_age: String(MAX_AGE_SECONDS),
      ...(from.former !== null && { prompt: 'login' }),
    });
    return { url: url.href, attempt };
  }

  async finish(url: URL, { state, nonce, verifier }: OidcAttempt): Promise<Claims> {
    const provider = await this.provider();
    const tokens = await openid
      .authorizationCodeGrant(provider, url, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
        maxAge: MAX_AGE_SECONDS,
      })
      .catch((error: unknown) => {
        throw failureOf(error);
      });
    const claims: Claims = { ...tokens.claims() };
    if (this.isComplete(claims) || provider.serverMetadata().userinfo_endpoint === undefined) return claims;
    const info = await openid
      .fetchUserInfo(provider, tokens.access_token, String(claims['sub']))
      .catch((error: unknown) => {
        throw failureOf(error);
      });
    return { ...info, ...claims };
  }

  private isComplete(claims: Claims): boolean {
    const demanded = this.config.adminOidcClaim;
    return ['email', 'email_verified', 'groups', ...(demanded === null ? [] : [demanded[0]])].every(
      (name) => name in claims,
    );
  }

  private provider(): Promise<openid.Configuration> {
    const { adminOidcIssuer, adminOidcClientId, adminOidcClientSecret, mode } = this.config;
    if (adminOidcIssuer === null || adminOidcClientId === null)
      throw new ProviderRefused('No identity provider is configured');
    const isPlain = mode === 'sandbox' && adminOidcIssuer.startsWith('http:');
    return (this.discovered ??= openid
      .discovery(
        new URL(adminOidcIssuer),
        adminOidcClientId,
        {},
        adminOidcClientSecret === null ? openid.None() : openid.ClientSecretBasic(adminOidcClientSecret),
        {
          timeout: TIMEOUT_SECONDS,
          // An issuer without TLS is for trying it out: production demands https.
          // The package compares the function itself.
          execute: isPlain ? [openid.allowInsecureRequests] : [],
        },
      )
      .catch((error: unknown) => {
        this.discovered = null;
        throw new ProviderUnavailable(`the identity provider is unavailable: ${(error as Error).message}`);
      }));
  }
}

/** The provider's own refusals and what does not verify will not pass at a repeat; the rest may. */
function failureOf(error: unknown): Error {
  const { message, code } = error as { readonly message: string; readonly code?: string };
  const isTransport = error instanceof TypeError || code === 'OAUTH_TIMEOUT' || code === 'OAUTH_ABORT';
  return isTransport
    ? new ProviderUnavailable(`the identity provider is unavailable: ${message}`)
    : new ProviderRefused('The identity provider did not confirm the login', null, { cause: error });
}
