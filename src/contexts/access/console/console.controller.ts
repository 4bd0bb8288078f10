import { Get, HttpCode, Inject, Post, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DomainError } from '../../../kernel/domain-error.js';
import { Field } from '../../../platform/dto/field.js';
import { freeForm, text } from '../../../platform/dto/rules.js';
import { CONSOLE_PAGE } from '../../../platform/http/listeners.js';
import { ValidBody } from '../../../platform/http/decorators.js';
import { PageController } from '../../../platform/http/pages/page.js';
import { VisitorLimits } from '../../../platform/http/pages/visitors.js';
import { Refusal } from '../../../platform/http/problem.js';
import { rawTarget } from '../../../platform/http/request-state.js';
import { Sealer } from '../../../platform/sealing/sealer.js';
import { type OidcAttempt, OidcLogin, returnPath } from '../operators/oidc-login.adapter.js';
import { Passkeys, People } from './people.service.js';
import type { Operator } from '../operators/operator.js';
import {
  ConsoleSessionTable,
  LoginSecrets,
  SESSION_SECONDS,
  type LoginFacts,
} from './console-sessions.store.js';
import { AdminAuthentication, READ_ONLY } from '../operators/admin-authentication.guard.js';
import { effectiveScopes, SCOPES } from '../operators/roles.js';
import { ConsoleSite, PageReply } from '../portal/sites.page.js';
import { accessConfig, type AccessConfig } from '../access.config.js';
import { OPERATIONS } from '../../../platform/operations/operation.js';
import { sendApplication } from '../../../platform/http/pages/document.js';

const OIDC_COOKIE = 'console-oidc';
const OIDC_PLACE = 'console oidc attempt';
const OIDC_SECONDS = 600;
/** The time after a login in which the session may enrol another passkey. */
const FRESH_MS = 300_000;

const BAD_LINK = { status: 401, title: 'Invalid link', detail: 'The link has expired or was used' };
const BAD_ATTEMPT = { status: 401, title: 'Invalid login', detail: 'The login has expired: start again' };
const FRESH_LOGIN = { status: 403, detail: 'Sign in again: the last login is more than 5 minutes ago' };
const NO_PASSKEYS = { status: 403, detail: 'Sign in with the identity provider' };

class OneTimeToken {
  @Field(text({ maxLength: 128 })) token!: string;
}

class EnrolOptionsBody {
  @Field(text({ maxLength: 128 }), {
    optional: true,
    description: 'Absent: for the person who is signed in.',
  })
  token?: string;
}

class EnrolBody extends EnrolOptionsBody {
  @Field(freeForm, { description: "The browser's response (WebAuthn)." }) response!: object;
}

/** The page of the console, its logins and its session (admin-api.md 5). */
@PageController(CONSOLE_PAGE)
export class ConsoleController {
  constructor(
    private readonly sessions: ConsoleSessionTable,
    private readonly people: People,
    private readonly secrets: LoginSecrets,
    private readonly passkeys: Passkeys,
    private readonly oidc: OidcLogin,
    private readonly authentication: AdminAuthentication,
    private readonly site: ConsoleSite,
    private readonly sealer: Sealer,
    private readonly limits: VisitorLimits,
    @Inject(accessConfig.KEY) private readonly config: AccessConfig,
  ) {}

  @Post('login/passkey/options')
  @HttpCode(200)
  async passkeyOptions(@Req() request: FastifyRequest): Promise<object> {
    this.arrive(request);
    this.requirePasskeys();
    return this.passkeys.loginOptions(this.site.findOrigin(request));
  }

  @Post('login/passkey')
  @HttpCode(204)
  async passkey(@Req() request: FastifyRequest, @PageReply() reply: FastifyReply): Promise<void> {
    this.arrive(request);
    this.requirePasskeys();
    const response = (request.body ?? {}) as object;
    const person = await this.passkeys.login(response, this.site.findOrigin(request));
    await this.signIn(request, reply, person, { method: 'passkey' });
  }

  @Post('login/link')
  @HttpCode(204)
  async link(
    @Req() request: FastifyRequest,
    @PageReply() reply: FastifyReply,
    @ValidBody() { token }: OneTimeToken,
  ): Promise<void> {
    this.arrive(request);
    if (this.config.mode !== 'sandbox') throw DomainError.notFound('Page');
    const person = await this.toPerson(await this.secrets.take('link', token));
    await this.signIn(request, reply, person, { method: 'link' });
  }

  @Post('enrol/options')
  @HttpCode(200)
  async enrolOptions(@Req() request: FastifyRequest, @ValidBody() { token }: EnrolOptionsBody) {
    this.arrive(request);
    const { person } = await this.enrolling(request, token);
    return this.passkeys.enrolOptions(person, this.site.findOrigin(request));
  }

  /** Enrols a passkey, and signs in a person with a link. Uses up the link only after the verification. */
  @Post('enrol')
  @HttpCode(204)
  async enrol(
    @Req() request: FastifyRequest,
    @PageReply() reply: FastifyReply,
    @ValidBody() { token, response }: EnrolBody,
  ): Promise<void> {
    this.arrive(request);
    const origin = this.site.findOrigin(request);
    const { person, session_id: sessionId } = await this.enrolling(request, token);
    const passkey = await this.passkeys.verifyEnrolment(person.operator_id, response, origin);
    // Only one of two concurrent attempts with the same link adds its passkey.
    if (token !== undefined) await this.toPerson(await this.secrets.take('link', token));
    const reason = token === undefined ? 'in a session of the console' : 'with a one-time link';
    await this.people.addPasskey(person, passkey, {
      reason: `enrolled ${reason}`,
      address: request.ip,
      sessionId,
    });
    if (token !== undefined) await this.signIn(request, reply, person, { method: 'passkey' });
  }

  @Get('login/oidc')
  async begin(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Query('return_to') returnTo: unknown,
  ): Promise<void> {
    this.limits.take(request.ip, 'console', 'login');
    const former = (await this.authentication.findSession(request))?.session_id ?? null;
    const from = { returnTo: returnPath(returnTo), former };
    const redirectUri = `${this.site.findOrigin(request)}/login/oidc/callback`;
    const { url, attempt } = await this.oidc.begin(redirectUri, from);
    const sealed = this.sealer.seal(
      JSON.stringify({ ...attempt, until: Date.now() + OIDC_SECONDS * 1000 }),
      OIDC_PLACE,
    );
    this.site.set(reply, OIDC_COOKIE, sealed, { sameSite: 'lax', seconds: OIDC_SECONDS });
    reply.redirect(url, 303);
  }

  @Get('login/oidc/callback')
  async finish(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const attempt = this.openAttempt(request);
    this.site.set(reply, OIDC_COOKIE, '', { sameSite: 'lax', seconds: 0 });
    const url = new URL(rawTarget(request), this.site.findOrigin(request));
    const { person, authenticatedAt } = await this.oidc.finish(url, attempt, request.ip);
    if (attempt.former !== null) await this.sessions.end(attempt.former);
    await this.signIn(request, reply, person, { method: 'oidc', authenticatedAt });
    reply.redirect(returnPath(attempt.returnTo), 303);
  }

  /** Returns the session. `decisions` lists the operations that the person may approve or reject. */
  @Get('session')
  async session(@Req() request: FastifyRequest) {
    const { person, method, authenticated_at, idle_expires_at, expires_at } =
      await this.authentication.session(request);
    const { operator_id: id, name, email, role } = person;
    const scopes = effectiveScopes(SCOPES, role);
    return {
      operator: { id, name, email, role },
      scopes: [...scopes],
      // The scope is enough: a role that has it also has all scopes that the operation grants.
      decisions: [...OPERATIONS.values()]
        .filter(({ secondPerson, scope }) => secondPerson && scopes.has(scope))
        .map(({ name }) => name),
      ...{ method, authenticated_at, idle_expires_at, expires_at, read_only: this.config.consoleReadOnly },
    };
  }

  @Post('logout')
  @HttpCode(204)
  async logout(@Req() request: FastifyRequest, @PageReply() reply: FastifyReply): Promise<void> {
    this.site.requireOwnOrigin(request);
    await this.endSession(request);
    this.site.clearSession(reply);
  }

  /** Serves the document at every other path; its script selects the page by the path. */
  @Get(['/', '*'])
  open(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    const { mode, consoleIdleSeconds: idle_seconds } = this.config;
    const facts = { page: 'console', oidc: this.oidc.isConfigured, mode, idle_seconds };
    sendApplication(request, reply, CONSOLE_PAGE, { title: 'Disburse console', facts });
  }

  /** Requires the console's own origin and applies rate limits, because these routes are public. */
  private arrive(request: FastifyRequest): void {
    this.site.requireOwnOrigin(request);
    this.limits.take(request.ip, 'console', 'login');
  }

  /** Refuses passkeys if an identity provider is configured, because former operators may still have some. */
  private requirePasskeys(): void {
    if (this.oidc.isConfigured) throw new Refusal(NO_PASSKEYS);
  }

  /** Returns the OIDC login of this browser. Throws Refusal (401) if none is younger than OIDC_SECONDS. */
  private openAttempt(request: FastifyRequest): OidcAttempt {
    const sealed = this.site.read(request, OIDC_COOKIE);
    try {
      const { until, ...attempt } = JSON.parse(this.sealer.open(sealed ?? '', OIDC_PLACE)) as OidcAttempt & {
        readonly until: number;
      };
      if (until > Date.now()) return attempt;
    } catch {
      // The cookie is missing or not authentic.
    }
    throw new Refusal(BAD_ATTEMPT);
  }

  private async toPerson(link: { readonly operator_id: string | null } | null): Promise<Operator> {
    const person = await this.people.find(link?.operator_id ?? '');
    if (person === null) throw new Refusal(BAD_LINK);
    return person;
  }

  /** Returns the person of the one-time link or of the session. A session needs a login within FRESH_MS. */
  private async enrolling(request: FastifyRequest, token: string | undefined) {
    if (token !== undefined)
      return { person: await this.toPerson(await this.secrets.find('link', token)), session_id: null };
    this.requirePasskeys();
    const session = await this.authentication.session(request);
    if (this.config.consoleReadOnly) throw new Refusal(READ_ONLY);
    if (Date.now() - session.authenticated_at.getTime() > FRESH_MS) throw new Refusal(FRESH_LOGIN);
    return session;
  }

  /** Opens a session and ends the browser's former one, so that the former token becomes invalid. */
  private async signIn(
    request: FastifyRequest,
    reply: FastifyReply,
    { operator_id }: Operator,
    login: Omit<LoginFacts, 'address'>,
  ): Promise<void> {
    await this.endSession(request);
    const token = await this.sessions.open(operator_id, { ...login, address: request.ip });
    this.site.setSession(reply, token, SESSION_SECONDS);
  }

  private async endSession(request: FastifyRequest): Promise<void> {
    const token = this.site.session(request);
    const session = token === null ? null : await this.sessions.find(token, false);
    if (session !== null) await this.sessions.end(session.session_id);
  }
}
