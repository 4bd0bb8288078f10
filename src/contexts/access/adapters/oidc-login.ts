import { Inject, Injectable, Logger } from '@nestjs/common';
import * as openid from 'openid-client';
import { DomainError } from '../../../kernel/domain-error.js';
import { accessConfig, type AccessConfig } from '../settings.js';
import { People } from '../application/console/people.js';
import type { KnownOperator } from '../domain/operator.js';

const TIMEOUT_SECONDS = 10;
/** A login at the provider from before that is no login here (admin-api.md 5). */
const MAX_AGE_SECONDS = 300;

/** The state of a login at the identity provider, in a sealed cookie until the person returns. */
export interface OidcAttempt {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  /** Path of the console. */
  readonly returnTo: string;
  /** The session of the browser when it left: its cookie does not come back from another site. Null: none. */
  readonly former: string | null;
}

/** Claims of the person who signed in, from the ID token and the endpoint for user information. */
export type Claims = Readonly<Record<string, unknown>>;

/** A path of the console's own origin: one slash, and no second one in any spelling that browsers take for one. */
const RETURN_TO = /^\/(?![/\\])[\x21-\x7e]{0,1023}$/;

export function returnPath(given: unknown): string {
  return typeof given === 'string' && RETURN_TO.test(given) && !given.includes('\\') ? given : '/';
}

/**
 * Logins at the OpenID Connect provider (admin-api.md 5), by openid-client: code flow with PKCE, state and nonce. The verified
 * email names the operator.
 */
@Injectable()
export class OidcLogin {
  private readonly logger = new Logger(OidcLogin.name);
  /** The provider's own document is read once. */
  private discovered: Promise<openid.Configuration> | null = null;

  constructor(
    private readonly people: People,
    @Inject(accessConfig.KEY) private readonly config: AccessConfig,
  ) {}

  get isConfigured(): boolean {
    return this.config.adminOidcIssuer !== null;
  }

  /** Returns where the browser goes. A person with a `former` session signs in at the provider again. */
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

  /**
   * Returns the person and the time of the login at the provider. Throws DomainError `forbidden` where it grants
   * nothing, `unavailable` for the provider.
   */
  async finish(
    url: URL,
    attempt: OidcAttempt,
    address: string,
  ): Promise<{ readonly person: KnownOperator; readonly authenticatedAt: Date }> {
    const claims = await this.readClaims(url, attempt).catch((error: unknown) => {
      throw this.toDomainError(error);
    });
    const { adminOidcClaim: demanded } = this.config;
    if (demanded !== null && !holds(claims[demanded[0]], demanded[1]))
      throw new DomainError('forbidden', `The claim ${demanded[0]} does not allow the console`);
    const { email, email_verified: isVerified } = claims;
    if (typeof email !== 'string' || isVerified !== true)
      throw new DomainError('forbidden', 'The identity provider has not verified the email');
    const person = await this.people.findByEmail(email.toLowerCase());
    if (person === null) throw new DomainError('forbidden', 'The email belongs to no active operator');
    const authenticatedAt = new Date(Number(claims['auth_time']) * 1000);
    return { person: await this.withRole(person, claims, address), authenticatedAt };
  }

  /** A role by groups takes effect where it gives nothing new: more takes an operation with a second person. */
  private async withRole(person: KnownOperator, claims: Claims, address: string): Promise<KnownOperator> {
    const { adminOidcRoles: roles } = this.config;
    if (roles === null) return person;
    const role = roles.find(([group]) => holds(claims['groups'], group))?.[1];
    if (role === undefined) throw new DomainError('forbidden', 'No group of yours allows the console');
    const { operatorId } = person;
    if (!(await this.people.lowerRole(person, role, address))) {
      this.logger.warn({
        msg: 'role not raised: it needs a second person',
        operator_id: operatorId,
        role: person.role,
        requested: role,
      });
      return person;
    }
    if (role !== person.role)
      this.logger.log({ msg: 'role set by groups', operator_id: operatorId, role, former: person.role });
    return (await this.people.find(operatorId)) ?? person;
  }

  /** The claims include `auth_time`, within the last 5 minutes. `url`: the address that the provider sent the browser back to. */
  protected async readClaims(url: URL, { state, nonce, verifier }: OidcAttempt): Promise<Claims> {
    const provider = await this.provider();
    const tokens = await openid.authorizationCodeGrant(provider, url, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
      maxAge: MAX_AGE_SECONDS,
    });
    const claims: Claims = { ...tokens.claims() };
    if (this.isComplete(claims) || provider.serverMetadata().userinfo_endpoint === undefined) return claims;
    const info = await openid.fetchUserInfo(provider, tokens.access_token, String(claims['sub']));
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
      throw DomainError.notFound('Identity provider');
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
        throw this.unavailable(error);
      }));
  }

  /** The provider's own refusals and what does not verify will not pass at a repeat; the rest may. */
  private toDomainError(error: unknown): DomainError {
    const { code } = error as { readonly code?: string };
    if (error instanceof DomainError) return error;
    if (error instanceof TypeError || code === 'OAUTH_TIMEOUT' || code === 'OAUTH_ABORT')
      return this.unavailable(error);
    this.logger.warn({ msg: 'login refused by the identity provider', err: error });
    return new DomainError('forbidden', 'The identity provider did not confirm the login');
  }

  private unavailable(error: unknown): DomainError {
    this.logger.warn({ msg: 'identity provider unavailable', reason: (error as Error).message });
    return new DomainError('unavailable', 'The identity provider is unavailable', {}, 5);
  }
}

/** Checks that the claim is the value, or a list that contains it. */
function holds(claim: unknown, value: string): boolean {
  return Array.isArray(claim)
    ? claim.map(String).includes(value)
    : claim !== undefined && String(claim) === value;
}
