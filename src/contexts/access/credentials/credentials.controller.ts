import { ApiTags } from '@nestjs/swagger';
import { Get, Post } from '@nestjs/common';
import { DomainError } from '../../../kernel/domain-error.js';
import {
  AdminController,
  Caller,
  listed,
  WriteBy,
  WriteTo,
  type AdminCaller,
  type AdminWrite,
  type SubjectWrite,
} from '../../../platform/http/admin/admin.guard.js';
import { PortalRoute } from '../../../platform/http/admin/portal.guard.js';
import { WriteBody, toWrite, written } from '../../../platform/http/admin/writes.js';
import { ListQuery, UuidParam, ValidBody } from '../../../platform/http/decorators.js';
import { Disclosure, Reach, Reads } from '../../../platform/http/reads.js';
import type { Reply } from '../../../platform/http/reply.js';
import { ApiRoute } from '../../../platform/openapi/route.js';
import { Operations, type OperationOutcome } from '../../../platform/operations/operations.js';
import { requireReach, requireScopes } from '../../../platform/operations/scopes.js';
import { isRole, ROLE_SCOPES } from '../operators/roles.js';
import { KIND_RULES } from './credential-kinds.js';
import {
  credentialStreams,
  IssueCredential,
  plainOrder,
  RevokeCredential,
  RevokeLeakedCredential,
  RollCredential,
  type CredentialSubject,
} from './credentials.commands.js';
import { CredentialSecrets, type CredentialWithSecret } from './credential-secrets.service.js';
import { CredentialIndex, CredentialsQuery, type AdminCredential } from './credentials.view.js';
import { DIRECTORY_VIEW } from '../merchants/directory.view.js';
import {
  CredentialCreated,
  CredentialResponse,
  CredentialsResponse,
  CredentialWritten,
  LeakedBody,
  LeakedResponse,
  NewCredentialBody,
  PendingCredential,
  RollBody,
} from './credentials.dto.js';
import { SECRET_DISPLAYED_MS } from './credentials.js';

const CREDENTIAL = 'Credential';

/** The credentials of merchants, exchange keys and operators in the admin API (admin-api.md 3). */
@ApiTags('Admin: credentials')
@AdminController('credentials')
export class AdminCredentialsController {
  constructor(
    private readonly credentials: CredentialIndex,
    private readonly secrets: CredentialSecrets,
    private readonly operations: Operations,
  ) {}

  @Get()
  @PortalRoute('keys', 'keys:read')
  @ApiRoute({
    id: 'adminListCredentials',
    summary: 'List credentials, newest first',
    description: 'Secrets are in no list.',
    scopes: ['credentials:read'],
    responses: {
      ...listed(CredentialsResponse),
      404: 'The merchant of merchant_id is not within reach of the key.',
    },
  })
  @Reads({ view: DIRECTORY_VIEW, lookup: 'credentials' })
  list(
    @Reach() merchants: readonly string[] | null,
    @ListQuery() query: CredentialsQuery,
  ): Promise<CredentialsResponse> {
    return this.credentials.page(merchants, query);
  }

  @Post()
  @ApiRoute({
    id: 'adminIssueCredential',
    summary: 'Issue a credential',
    description:
      'Needs credentials:write, but for an admin key: that belongs to the person who issues it, whose own scopes are enough, and it is not valid until another person approves it.',
    scopes: [],
    responses: {
      201: [CredentialCreated, 'The credential, with its secret.'],
      202: [PendingCredential, 'An admin key, with its secret; another person has to approve it.'],
      403: 'A scope is missing: credentials:write, or one that the key would have; or it would exceed the merchants, addresses or expiry of the key that requests it.',
      409: 'The merchant has two valid payouts keys.',
      422: 'A member is invalid.',
    },
  })
  async issue(@WriteBy() write: AdminWrite, @ValidBody() body: NewCredentialBody): Promise<Reply> {
    const id = write.idempotency.id('credential');
    const parameters = await this.toParameters(id, body, write.requester);
    const request = toWrite(write, body, parameters.merchant_id);
    const outcome = await this.operations.request(new IssueCredential(id, parameters), request);
    return this.issued(outcome, write);
  }

  @Get(':id')
  @ApiRoute({
    id: 'adminGetCredential',
    summary: 'Get a credential',
    scopes: ['credentials:read'],
    responses: { 200: [CredentialResponse, 'The credential; the ETag is its revision.'] },
  })
  @Reads({ view: null, lookup: 'credential' })
  async get(
    @Caller() caller: AdminCaller,
    @UuidParam('id', CREDENTIAL) id: string,
  ): Promise<Disclosure<CredentialResponse>> {
    const row = await this.credentials.findDisplayed(id, caller);
    const revision = await this.operations.findRevision(credentialStreams(toSubject(row)));
    const credential = await this.credentials.findDisplayed(id, caller);
    return new Disclosure([credential.merchant_id], () => ({ credential }), revision);
  }

  @Post(':id/roll')
  @ApiRoute({
    id: 'adminRollCredential',
    summary: 'Replace a credential by a new one',
    description:
      'The old one is valid until the overlap or its own expiry ends. Needs credentials:write, but for an admin key: that is rolled by its person, in the console or with a key that has its scopes and does not end before it.',
    scopes: [],
    responses: {
      201: [CredentialCreated, 'The new credential, with its secret.'],
      403: "A scope is missing: credentials:write, or one of the key; or it is another person's admin key, or exceeds the merchants, addresses or expiry of the key that requests it.",
      409: 'It is not active, or the merchant has two valid payouts keys.',
      422: 'overlap_seconds, reason or ticket is invalid.',
    },
  })
  async roll(@WriteTo(CREDENTIAL) write: SubjectWrite, @ValidBody() body: RollBody): Promise<Reply> {
    const { requester, subject } = write;
    const owner = toSubject(await this.credentials.find(subject.id, requester));
    const parameters = { ...owner, overlap_seconds: body.overlap_seconds };
    const command = new RollCredential(subject.id, parameters);
    const outcome = await this.operations.request(command, toWrite(write, body, owner.merchant_id));
    return this.issued(outcome, write);
  }

  @Post(':id/revoke')
  @ApiRoute({
    id: 'adminRevokeCredential',
    summary: 'Revoke a credential',
    description: 'It is refused within two seconds everywhere, for good.',
    scopes: ['credentials:write'],
    responses: { 200: [CredentialWritten, 'It is revoked.'], 409: 'It is revoked already.' },
  })
  async revoke(@WriteTo(CREDENTIAL) write: SubjectWrite, @ValidBody() body: WriteBody): Promise<Reply> {
    const { requester, subject } = write;
    const owner = toSubject(await this.credentials.find(subject.id, requester));
    const command = new RevokeCredential(subject.id, owner);
    const outcome = await this.operations.request(command, toWrite(write, body, owner.merchant_id));
    return written(outcome, 200, async () => ({
      credential: await this.credentials.find(subject.id, requester),
    }));
  }

  @Post('revoke_leaked')
  @ApiRoute({
    id: 'adminRevokeLeakedCredential',
    summary: 'Revoke the credential of a secret that leaked',
    description: 'Of any kind. The secret is not recorded.',
    scopes: ['credentials:write'],
    responses: { 200: [LeakedResponse, 'The credential is revoked, if there is one.'] },
  })
  async revokeLeaked(
    @WriteBy() write: AdminWrite,
    @ValidBody() body: LeakedBody,
  ): Promise<LeakedResponse | Reply> {
    const found = await this.credentials.findBySecret(this.secrets.toHash(body.token), write.requester);
    if (found === null) return { credential_id: null, operation_id: null };
    const { id, status } = found;
    if (status === 'revoked') return { credential_id: id, operation_id: null };
    const owner = toSubject(found);
    const command = new RevokeLeakedCredential(id, { ...owner, url: body.url });
    const outcome = await this.operations.request(command, toWrite(write, body, owner.merchant_id));
    return written(outcome, 200, () => ({ credential_id: id }));
  }

  /** Returns parameters. Throws `validation_failed`, `forbidden` (scope) or `not_found` (other merchant). */
  private async toParameters(id: string, body: NewCredentialBody, caller: AdminCaller) {
    const { kind, merchant_id = null, operator_id = null, merchants = null } = body;
    requireMembers(body);
    // Scope and reach are checked first, so that a caller without them cannot probe which merchants exist.
    if (kind !== 'admin') requireScopes(caller, ['credentials:write']);
    const named = [...(merchants ?? []), ...(merchant_id ? [merchant_id] : [])];
    for (const each of named) requireReach(caller, each, 'Merchant');
    if (!(await this.credentials.areMerchants(named))) {
      const field = kind === 'admin' ? 'merchants' : 'merchant_id';
      throw DomainError.invalid({ [field]: ['must name merchants that exist'] }).asTransient();
    }
    // JSON drops undefined members, which would replace the defaults.
    const { reason: _, ticket: __, ...given } = JSON.parse(JSON.stringify(body)) as Recorded;
    return plainOrder({
      ...{ demands_signing: true, ...given, api_key: null },
      ...(kind === 'exchange' && { api_key: KIND_RULES.exchange.deriveKeyId(id, '', null) }),
      ...(kind === 'admin' && {
        operator_id: operator_id ?? caller.operatorId,
        // The current role's scopes replace absent ones, so that the approver can read them.
        scopes:
          body.scopes ?? (caller.role !== null && isRole(caller.role) ? ROLE_SCOPES[caller.role] : null),
      }),
    });
  }

  private async issued({ operation, result }: OperationOutcome, { requester, idempotency }: AdminWrite) {
    const { credential_id, secret } = result as CredentialWithSecret;
    const credential = { ...(await this.credentials.find(credential_id, requester)), secret };
    // A repeat returns the secret only for the remaining time.
    const until = Date.parse(operation.requested_at) + SECRET_DISPLAYED_MS;
    idempotency.hideSecretAfter(Math.min(SECRET_DISPLAYED_MS, until - Date.now()));
    return written({ operation, result: { credential } }, 201, (result) => result);
  }
}

type Recorded = Omit<NewCredentialBody, 'expires_at'> & { readonly expires_at?: string | null };

function toSubject({ kind, merchant_id, operator_id, api_key }: AdminCredential): CredentialSubject {
  return { kind, merchant_id, operator_id, api_key };
}

/** The request members that only some kinds of credentials have. */
const MEMBERS = new Set<string>(Object.values(KIND_RULES).flatMap(({ members }) => [...members]));

function requireMembers(body: NewCredentialBody): void {
  const given = body as unknown as Readonly<Record<string, unknown>>;
  const { members, owner } = KIND_RULES[body.kind] as { members: readonly string[]; owner: string };
  for (const name of MEMBERS)
    if (given[name] !== undefined && given[name] !== null && !members.includes(name))
      throw DomainError.invalid({ [name]: [`is not for credentials of kind ${body.kind}`] });
  if (owner === 'merchant' && !body.merchant_id) throw DomainError.invalid({ merchant_id: ['is required'] });
}
