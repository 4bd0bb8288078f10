/** What a login at the identity provider needs to come back to; in a sealed cookie until then. */
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

/** An OpenID Connect provider: code flow with PKCE, state and nonce. */
export abstract class IdentityProvider {
  abstract readonly isConfigured: boolean;
  /**
   * Where the browser goes. The person is to have signed in at the provider within 5 minutes; with `former`, who is signed in
   * here already, signs in there again. Throws {@link ProviderUnavailable}.
   */
  abstract begin(
    redirectUri: string,
    from: Pick<OidcAttempt, 'returnTo' | 'former'>,
  ): Promise<{ url: string; attempt: OidcAttempt }>;
  /** The claims include `auth_time`, within the last 5 minutes. `url`: the whole address that the provider sent the browser back to. Throws {@link ProviderRefused}, {@link ProviderUnavailable}. */
  abstract finish(url: URL, attempt: OidcAttempt): Promise<Claims>;
}
