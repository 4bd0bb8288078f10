/** The used part of the package, which has no types. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  interface Grant {
    addOIDCScope(scope: string): void;
    save(): Promise<string>;
  }
  interface Context {
    readonly oidc: {
      readonly provider: Provider & { readonly Grant: new (of: object) => Grant };
      readonly client?: { readonly clientId: string };
      readonly session?: { readonly accountId?: string };
    };
  }
  interface Configuration {
    readonly clients: readonly object[];
    readonly cookies: object;
    readonly claims: object;
    readonly features: object;
    readonly interactions: { url(context: Context, interaction: { readonly uid: string }): string };
    readonly pkce: { required(): boolean };
    findAccount(context: Context, id: string): { readonly accountId: string; claims(): object };
    loadExistingGrant(context: Context): Promise<Grant>;
  }
  export default class Provider {
    constructor(issuer: string, configuration: Configuration);
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: object,
      options: { readonly mergeWithLastSubmission: boolean },
    ): Promise<void>;
  }
}
