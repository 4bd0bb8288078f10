import { Injectable, Logger } from '@nestjs/common';
import { isUuid } from '../../../../kernel/ids.js';
import { CommandLoop } from '../../../../platform/event-store/command-loop.js';
import type { AnyCommand } from '../../../../platform/operations/operation.js';
import { Operations } from '../../../../platform/operations/operations.js';
import { operatorPerson, type KnownOperator, type Passkey } from '../../domain/operator.js';
import { isRole, scopesGained } from '../../domain/roles.js';
import { OperatorsView } from '../../views/directory-projection.js';
import { AddPasskey, LowerRole } from '../operator-commands.js';
import { randomBytes } from 'node:crypto';
import {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
  type AuthenticationResponseJSON,
  type RegistrationResponseJSON,
} from '@simplewebauthn/server';
import { DomainError } from '../../../../kernel/domain-error.js';
import { LoginSecrets, type LoginPurpose, PasskeyCounters } from '../../store/console-sessions.js';

/** The way in which a passkey is added, for the operation. */
interface Enrolment {
  readonly reason: string;
  readonly address: string;
  /** The session, or null for a one-time link. */
  readonly sessionId: string | null;
}

/** The scopes of changes at a login, which are the person's own and need no role. */
const OWN_CHANGES: ReadonlySet<string> = new Set(['operators:write']);

/** Operators as logins find them: by the events of each. */
@Injectable()
export class People {
  constructor(
    private readonly operators: OperatorsView,
    private readonly loop: CommandLoop,
    private readonly operations: Operations,
  ) {}

  /** Returns the active person from the events, or null: unknown, disabled or not approved yet. */
  async find(operatorId: string): Promise<KnownOperator | null> {
    if (!isUuid(operatorId)) return null;
    const { state } = await this.loop.load(operatorPerson, operatorId);
    return state.status === 'active' ? state : null;
  }

  /** The read model only finds the person. */
  async findByEmail(email: string): Promise<KnownOperator | null> {
    const found = await this.operators.byEmail(email);
    const person = found && (await this.find(found.id));
    return person?.email.toLowerCase() === email.toLowerCase() ? person : null;
  }

  /** An operation of the person. */
  async addPasskey(person: KnownOperator, passkey: Passkey, by: Enrolment): Promise<void> {
    await this.change(person, new AddPasskey(person.operatorId, passkey), by);
  }

  /**
   * A role by the groups of the identity provider, as an operation of the person. False where it would give anything that
   * the role has not now: nothing has changed then.
   */
  async lowerRole(person: KnownOperator, role: string, address: string): Promise<boolean> {
    const { state } = await this.loop.load(operatorPerson, person.operatorId);
    if (state.status !== 'active' || !isRole(role) || scopesGained(role, state.role).length > 0) return false;
    if (role === state.role) return true;
    const by = { reason: 'the groups at the identity provider', address, sessionId: null };
    await this.change(person, new LowerRole(person.operatorId, { role }), by);
    return true;
  }

  private async change(
    { operatorId, name, role }: KnownOperator,
    command: AnyCommand,
    { reason, ...by }: Enrolment,
  ): Promise<void> {
    const person = { operatorId, name, role, credentialId: null, scopes: OWN_CHANGES, merchants: null };
    const requester = { ...person, ...by };
    const request = { revision: null, reason, ticket: null, requester, merchantId: null };
    await this.operations.request(command, request);
  }
}

const CHALLENGE_SECONDS = 300;

const logger = new Logger('Passkeys');

/**
 * Passkeys (WebAuthn): discoverable, with user verification. Their public keys are events of the operator. `origin` is that
 * of the console's page: its host is the RP ID.
 */
@Injectable()
export class Passkeys {
  constructor(
    private readonly people: People,
    private readonly secrets: LoginSecrets,
    private readonly counters: PasskeyCounters,
  ) {}

  async enrolOptions({ operatorId, name, email, passkeys }: KnownOperator, origin: string): Promise<object> {
    return generateRegistrationOptions({
      rpName: 'Disburse console',
      rpID: new URL(origin).hostname,
      userName: email,
      userDisplayName: name,
      userID: new Uint8Array(Buffer.from(operatorId)),
      challenge: await this.newChallenge('enrol', operatorId),
      attestationType: 'none',
      excludeCredentials: passkeys.map(({ credential_id: id }) => ({ id })),
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    });
  }

  /** The new passkey, not stored yet. Throws DomainError `bad_request` for a response that does not verify. */
  async verifyEnrolment(operatorId: string, response: object, origin: string): Promise<Passkey> {
    await this.takeChallenge('enrol', response, operatorId);
    const { registrationInfo } = await verifying(() =>
      verifyRegistrationResponse({
        response: response as RegistrationResponseJSON,
        expectedChallenge: () => true,
        expectedOrigin: origin,
        expectedRPID: new URL(origin).hostname,
        requireUserVerification: true,
      }),
    );
    if (registrationInfo === undefined) throw invalid();
    const { id, publicKey, counter, transports = [] } = registrationInfo.credential;
    return {
      credential_id: id,
      public_key: Buffer.from(publicKey).toString('base64url'),
      counter,
      transports: transports.map(String),
    };
  }

  async loginOptions(origin: string): Promise<object> {
    return generateAuthenticationOptions({
      rpID: new URL(origin).hostname,
      challenge: await this.newChallenge('passkey', null),
      userVerification: 'required',
    });
  }

  /** Returns the person who signs in. Throws DomainError `forbidden` where there is none. */
  async login(response: object, origin: string): Promise<KnownOperator> {
    await this.takeChallenge('passkey', response, null);
    const { id, response: signed } = response as Partial<AuthenticationResponseJSON>;
    const operatorId = Buffer.from(String(signed?.userHandle ?? ''), 'base64url').toString();
    const person = isUuid(operatorId) ? await this.people.find(operatorId) : null;
    const passkey = person?.passkeys.find(({ credential_id }) => credential_id === id);
    if (person === null || passkey === undefined) throw unknown();
    const { credential_id: passkeyId, public_key: publicKey } = passkey;
    const counter = Math.max(passkey.counter, await this.counters.read(passkeyId));
    const { verified, authenticationInfo } = await verifying(async () =>
      verifyAuthenticationResponse({
        response: response as AuthenticationResponseJSON,
        expectedChallenge: () => true,
        expectedOrigin: origin,
        expectedRPID: new URL(origin).hostname,
        requireUserVerification: true,
        credential: {
          id: passkeyId,
          publicKey: new Uint8Array(Buffer.from(publicKey, 'base64url')),
          counter,
        },
      }),
    );
    if (!verified || !(await this.counters.advance(passkeyId, authenticationInfo.newCounter)))
      throw invalid();
    return person;
  }

  private async newChallenge(
    purpose: LoginPurpose,
    operatorId: string | null,
  ): Promise<Uint8Array<ArrayBuffer>> {
    const challenge = randomBytes(32);
    await this.secrets.insert(purpose, challenge.toString('base64url'), operatorId, CHALLENGE_SECONDS);
    return new Uint8Array(challenge);
  }

  /** The challenge that the response signs is good once. Throws for one that was not given to this person. */
  private async takeChallenge(
    purpose: LoginPurpose,
    response: object,
    operatorId: string | null,
  ): Promise<void> {
    const challenge = challengeIn(response);
    const used = challenge === null ? null : await this.secrets.take(purpose, challenge);
    if (used === null || used.operator_id !== operatorId) throw expired();
  }
}

const invalid = (): DomainError => new DomainError('bad_request', 'The passkey could not be verified');
const expired = (): DomainError => new DomainError('bad_request', 'The attempt has expired: try again');
const unknown = (): DomainError => new DomainError('forbidden', 'This passkey belongs to no active operator');

/** Converts errors of the package to refusals of the response. */
function verifying<T>(verify: () => Promise<T>): Promise<T> {
  return verify().catch((error: unknown) => {
    logger.warn({ msg: 'passkey refused', reason: (error as Error).message });
    throw invalid();
  });
}

/** The challenge that the browser signed over; what it says is verified afterwards. */
function challengeIn(response: object): string | null {
  const { response: signed } = response as { readonly response?: { readonly clientDataJSON?: unknown } };
  if (typeof signed?.clientDataJSON !== 'string') return null;
  try {
    const data: unknown = JSON.parse(Buffer.from(signed.clientDataJSON, 'base64url').toString());
    const { challenge } = data as { readonly challenge?: unknown };
    return typeof challenge === 'string' ? challenge : null;
  } catch {
    return null;
  }
}
