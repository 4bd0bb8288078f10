import { Injectable, Logger } from '@nestjs/common';
import { isUuid } from '../../../kernel/ids.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import type { AnyCommand } from '../../../platform/operations/operation.js';
import { Operations, type Requester } from '../../../platform/operations/operations.js';
import { operatorPerson, type Operator, type Passkey } from '../operators/operator.js';
import { isRole, scopesGained } from '../operators/roles.js';
import { OperatorsView } from '../merchants/directory.view.js';
import { AddPasskey, LowerRole } from '../operators/operators.commands.js';
import { randomBytes } from 'node:crypto';
import {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
  type AuthenticationResponseJSON,
  type RegistrationResponseJSON,
} from '@simplewebauthn/server';
import { DomainError } from '../../../kernel/domain-error.js';
import { isDatabaseUnavailable } from '../../../platform/postgres/unavailable.js';
import { LoginSecrets, type LoginPurpose } from './console-sessions.store.js';

/** The reason and origin of an operation at a login; `sessionId` is null if no session requests it. */
type Origin = Pick<Requester, 'address' | 'sessionId'> & { readonly reason: string };

/** The scopes with which a person changes their own account at a login, independent of the role. */
const OWN_CHANGES: ReadonlySet<string> = new Set(['operators:write']);

/** Finds and changes the operator of a login. Reads events, because rows may be late or forged. */
@Injectable()
export class People {
  constructor(
    private readonly operators: OperatorsView,
    private readonly loop: CommandLoop,
    private readonly operations: Operations,
  ) {}

  /** Returns null for a person who is unknown, disabled or not approved yet. */
  async find(operatorId: string): Promise<Operator | null> {
    if (!isUuid(operatorId)) return null;
    const { state } = await this.loop.load(operatorPerson, operatorId);
    return state.status === 'active' ? state : null;
  }

  async findByEmail(email: string): Promise<Operator | null> {
    const found = await this.operators.byEmail(email);
    const person = found && (await this.find(found.id));
    return person?.email.toLowerCase() === email.toLowerCase() ? person : null;
  }

  async addPasskey(person: Operator, passkey: Passkey, by: Origin): Promise<void> {
    await this.change(person, new AddPasskey(person.operator_id, passkey), by);
  }

  /** Sets the role from the provider's groups. Returns false for an inactive person or additional scopes. */
  async lowerRole(person: Operator, role: string, address: string): Promise<boolean> {
    const { state } = await this.loop.load(operatorPerson, person.operator_id);
    if (state.status !== 'active' || !isRole(role) || scopesGained(role, state.role).length > 0) return false;
    if (role === state.role) return true;
    const by = { reason: 'the groups at the identity provider', address, sessionId: null };
    await this.change(person, new LowerRole(person.operator_id, { role }), by);
    return true;
  }

  private async change(
    { operator_id: operatorId, name, role }: Operator,
    command: AnyCommand,
    { reason, ...by }: Origin,
  ): Promise<void> {
    const person = { operatorId, name, role, credentialId: null, scopes: OWN_CHANGES, merchants: null };
    const requester = { ...person, ...by };
    const request = { revision: null, reason, ticket: null, requester, merchantId: null };
    await this.operations.request(command, request);
  }
}

const CHALLENGE_SECONDS = 300;

const logger = new Logger('Passkeys');

/** Discoverable WebAuthn passkeys with user verification. The RP ID is the host of the console. */
@Injectable()
export class Passkeys {
  constructor(
    private readonly people: People,
    private readonly secrets: LoginSecrets,
  ) {}

  async enrolOptions(person: Operator, origin: string): Promise<object> {
    const { operator_id: operatorId, name, email, passkeys } = person;
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

  /** Returns the new passkey without storing it. Throws `bad_request` for a response that does not verify. */
  async verifyEnrolment(operatorId: string, response: object, origin: string): Promise<Passkey> {
    const { registrationInfo } = await verifying(() =>
      verifyRegistrationResponse({
        response: response as RegistrationResponseJSON,
        ...this.expected('enrol', operatorId, origin),
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

  /** Returns the operator. Throws `forbidden` (unknown passkey or inactive operator) or `bad_request`. */
  async login(response: object, origin: string): Promise<Operator> {
    const { id, response: signed } = response as Partial<AuthenticationResponseJSON>;
    const operatorId = Buffer.from(String(signed?.userHandle ?? ''), 'base64url').toString();
    const person = await this.people.find(operatorId);
    const passkey = person?.passkeys.find(({ credential_id }) => credential_id === id);
    if (person === null || passkey === undefined)
      throw new DomainError('forbidden', 'This passkey belongs to no active operator');
    // This is the counter at the enrolment. advanceCounter compares with the counter of the last login.
    const { credential_id: passkeyId, public_key: publicKey, counter } = passkey;
    const credential = {
      id: passkeyId,
      publicKey: new Uint8Array(Buffer.from(publicKey, 'base64url')),
      counter,
    };
    const { verified, authenticationInfo } = await verifying(async () =>
      verifyAuthenticationResponse({
        response: response as AuthenticationResponseJSON,
        ...this.expected('passkey', null, origin),
        credential,
      }),
    );
    if (!verified) throw invalid();
    if (!(await this.secrets.advanceCounter(passkeyId, authenticationInfo.newCounter))) {
      logger.warn({ msg: 'passkey refused', reason: 'its counter did not increase: it may be a clone' });
      throw invalid();
    }
    return person;
  }

  private async newChallenge(purpose: LoginPurpose, operatorId: string | null) {
    const challenge = randomBytes(32);
    await this.secrets.insert(purpose, challenge.toString('base64url'), operatorId, CHALLENGE_SECONDS);
    return new Uint8Array(challenge);
  }

  /** Returns the expected values. Checking a challenge consumes it, or throws `bad_request` if wrong. */
  private expected(purpose: LoginPurpose, operatorId: string | null, origin: string) {
    return {
      expectedChallenge: async (challenge: string) => {
        const used = await this.secrets.take(purpose, challenge);
        if (used?.operator_id === operatorId) return true;
        throw new DomainError('bad_request', 'The attempt has expired: try again');
      },
      expectedOrigin: origin,
      expectedRPID: new URL(origin).hostname,
      requireUserVerification: true,
    };
  }
}

const invalid = (): DomainError => new DomainError('bad_request', 'The passkey could not be verified');

/** Maps errors of the WebAuthn package to `bad_request`, but not errors of an unavailable database. */
function verifying<T>(verify: () => Promise<T>): Promise<T> {
  return verify().catch((error: unknown) => {
    if (error instanceof DomainError || isDatabaseUnavailable(error)) throw error;
    logger.warn({ msg: 'passkey refused', reason: (error as Error).message });
    throw invalid();
  });
}
