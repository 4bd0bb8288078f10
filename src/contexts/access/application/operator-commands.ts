import { Inject } from '@nestjs/common';
import { CommandHandler } from '@nestjs/cqrs';
import { DomainError } from '../../../kernel/domain-error.js';
import { deriveId } from '../../../kernel/ids.js';
import { tidy } from '../../../kernel/typed-text.js';
import { processConfig, type ProcessConfig } from '../../../platform/config/config.js';
import { CommandLoop, currentOperation } from '../../../platform/event-store/command-loop.js';
import { ClaimHeld, type Claim } from '../../../platform/event-store/command-loop-types.js';
import {
  Operation,
  OperatorCommand,
  type EmptyParameters,
  type OperationProgress,
  type OperationHandler,
} from '../../../platform/operations/operation.js';
import { SubscriptionProgress } from '../../../platform/projections/subscription-progress.js';
import { KeyedHash } from '../../../platform/sealing/keyed-hash.js';
import {
  addPasskey,
  createOperator,
  knownOperator,
  operatorPerson,
  readRole,
  removePasskey,
  updateOperator,
  type OperatorChange,
  type OperatorPerson,
  type Passkey,
} from '../domain/operator.js';
import { ROLE_SCOPES, scopesGained, type Scope } from '../domain/roles.js';
import { ConsoleSessionTable, LoginSecrets } from '../store/console-sessions.js';
import { DIRECTORY_VIEW, OperatorsView } from '../views/directory-projection.js';
import { AccessCommands } from './merchant-commands.js';
import { accessConfig, type AccessConfig } from '../settings.js';

const EMAIL_TAKEN = 'is used by another operator';

/** One operator alone can approve nothing: the shell adds the first two. Each has a separate id, once in a log. */
const FIRST_OPERATORS = ['1', '2'].map((place) => deriveId('first operator', place));

const OPERATOR = {
  subject: 'operator',
  scope: 'operators:write',
  streams: (id: string) => [`operator-${id}`],
} as const;

function emailInUse(): DomainError {
  return DomainError.invalid({ email: [EMAIL_TAKEN] }).asTransient();
}

/** The id of the next of the first two operators; null once two were ever added, in any state. */
export async function nextFirstOperator(
  access: Pick<AccessCommands, 'load'>,
  operators: Pick<OperatorsView, 'count'>,
): Promise<string | null> {
  const states = await Promise.all(FIRST_OPERATORS.map((id) => access.load(operatorPerson, id)));
  const next = FIRST_OPERATORS.find((_, place) => states[place]!.status === 'unknown');
  // Others may have been added with an approval.
  return next !== undefined && (await operators.count()) < FIRST_OPERATORS.length ? next : null;
}

interface Login {
  /** The login link; absent with OpenID Connect, which recognises the person by the email. */
  readonly login_url?: string;
}

interface NewPerson {
  readonly name: string;
  readonly email: string;
  readonly role: string;
  /** One of the first, by the shell: there is no second person yet. */
  readonly is_first?: true;
}

/** A new person. Throws `validation_failed` on `name`, `email` (also one that another person has) or `role`. */
@Operation({ ...OPERATOR, name: 'operators.create', secondPerson: 'depends' })
export class CreateOperator extends OperatorCommand<NewPerson, Login> {}

@CommandHandler(CreateOperator)
export class CreateOperatorHandler implements OperationHandler<CreateOperator> {
  constructor(
    private readonly access: AccessCommands,
    private readonly keyedHash: KeyedHash,
    private readonly operators: OperatorsView,
    private readonly links: LoginSecrets,
    @Inject(accessConfig.KEY) private readonly config: AccessConfig,
  ) {}

  async secondPerson({ parameters }: CreateOperator): Promise<'before' | null> {
    return parameters.is_first ? null : 'before';
  }

  async grants({ parameters }: CreateOperator): Promise<readonly Scope[]> {
    return ROLE_SCOPES[readRole(parameters.role)];
  }

  async check({ subjectId: operatorId, parameters: person }: CreateOperator): Promise<void> {
    const state = await this.access.load(operatorPerson, operatorId);
    createOperator({ ...person, operatorId, at: '' }, state);
    if (person.is_first && (await nextFirstOperator(this.access, this.operators)) !== operatorId)
      throw new DomainError('invalid_transition', 'There are operators already: add others in the console');
    if ((await this.operators.byEmail(tidy(person.email))) !== null) throw emailInUse();
  }

  async execute({ subjectId: operatorId, parameters: person }: CreateOperator): Promise<Login> {
    const email = tidy(person.email).toLowerCase();
    const claim: Claim = {
      category: 'operator_email',
      key: this.keyedHash.of('operator email', email),
      field: 'email',
      message: EMAIL_TAKEN,
    };
    try {
      await this.access.change(
        operatorPerson,
        operatorId,
        (state, at) => createOperator({ operatorId, ...person, at }, state),
        { claims: [claim] },
      );
    } catch (error) {
      if (error instanceof ClaimHeld) throw emailInUse();
      throw error;
    }
    return this.login(operatorId);
  }

  /** The link of a repeated approval is for the person who approved it, and of no use once the new one signs in. */
  async follow({ subjectId }: CreateOperator, { status, by }: OperationProgress): Promise<Login> {
    if (status !== 'executed' || by !== 'approver') return {};
    const { passkeys } = knownOperator(await this.access.load(operatorPerson, subjectId));
    return passkeys.length === 0 ? this.login(subjectId) : {};
  }

  private async login(id: string): Promise<Login> {
    return this.config.adminOidcIssuer === null ? { login_url: await this.links.issueLink(id) } : {};
  }
}

/** A one-time link with which the person enrols a passkey. */
@Operation({ ...OPERATOR, name: 'operators.issue_login_link', secondPerson: 'depends' })
export class IssueLoginLink extends OperatorCommand<EmptyParameters, Login> {}

@CommandHandler(IssueLoginLink)
class IssueLoginLinkHandler implements OperationHandler<IssueLoginLink> {
  constructor(
    private readonly access: AccessCommands,
    private readonly operators: OperatorsView,
    private readonly links: LoginSecrets,
    @Inject(processConfig.KEY) private readonly config: ProcessConfig,
  ) {}

  /** A second person is needed for another's link, with which the shell could itself decide. */
  async secondPerson(): Promise<'before' | null> {
    const isFree =
      this.config.mode === 'sandbox' || (await nextFirstOperator(this.access, this.operators)) !== null;
    return isFree ? null : 'before';
  }

  async grants({ subjectId }: IssueLoginLink): Promise<readonly Scope[]> {
    return ROLE_SCOPES[knownOperator(await this.access.load(operatorPerson, subjectId)).role];
  }

  async check({ subjectId }: IssueLoginLink): Promise<void> {
    if (knownOperator(await this.access.load(operatorPerson, subjectId)).status === 'disabled')
      throw new DomainError('invalid_transition', 'The operator is disabled');
  }

  async execute({ subjectId }: IssueLoginLink): Promise<Login> {
    return { login_url: await this.links.issueLink(subjectId) };
  }
}

/** Returns the scopes that the person would have and does not have now: of one who is disabled, all. */
async function findGained(
  access: AccessCommands,
  id: string,
  { role, status }: OperatorChange,
): Promise<readonly Scope[]> {
  const person = knownOperator(await access.load(operatorPerson, id));
  const next = role === undefined ? person.role : readRole(role);
  if (person.status === 'disabled' && status === 'active') return ROLE_SCOPES[next];
  return scopesGained(next, person.role);
}

/** Every key and session of a disabled person gets 401. Throws `not_found`, or `validation_failed` on `role`. */
@Operation({ ...OPERATOR, name: 'operators.update', secondPerson: 'depends' })
export class UpdateOperator extends OperatorCommand<OperatorChange> {}

@CommandHandler(UpdateOperator)
export class UpdateOperatorHandler implements OperationHandler<UpdateOperator> {
  constructor(
    private readonly access: AccessCommands,
    private readonly loop: CommandLoop,
    private readonly operators: OperatorsView,
    private readonly progress: SubscriptionProgress,
  ) {}

  async secondPerson(command: UpdateOperator): Promise<'before' | null> {
    return (await this.grants(command)).length > 0 ? 'before' : null;
  }

  grants({ subjectId, parameters }: UpdateOperator): Promise<readonly Scope[]> {
    return findGained(this.access, subjectId, parameters);
  }

  async execute({ subjectId, parameters: change }: UpdateOperator): Promise<void> {
    await this.keepTwoAdministrators(subjectId, change);
    await this.access.change(operatorPerson, subjectId, (state, at) => updateOperator({ change, at }, state));
  }

  /** Throws `invalid_transition` where of two administrators one would be left, who could approve nothing. */
  private async keepTwoAdministrators(id: string, { role, status }: OperatorChange): Promise<void> {
    const ends = status === 'disabled' || (role !== undefined && role !== 'administrator');
    if (!ends || !isAdministrator(await this.access.load(operatorPerson, id))) return;
    await this.progress.requireCurrent(DIRECTORY_VIEW);
    let left = 0;
    for (const other of await this.operators.administrators()) {
      const { state, revision } = await this.loop.load(operatorPerson, other);
      if (other === id || !isAdministrator(state)) continue;
      // One of two persons who disable each other at the same time is refused.
      currentOperation()?.expected.set(`operator-${other}`, revision);
      left += 1;
      if (left === 2) return;
    }
    if (left === 1)
      throw new DomainError(
        'invalid_transition',
        'One administrator would be left, who could approve nothing: add another one first',
      );
  }
}

function isAdministrator(state: OperatorPerson): boolean {
  return state.status === 'active' && state.role === 'administrator';
}

/** Throws `not_found`. */
@Operation({ ...OPERATOR, name: 'operators.remove_passkey' })
export class RemovePasskey extends OperatorCommand<{ readonly credential_id: string }> {}

@CommandHandler(RemovePasskey)
class RemovePasskeyHandler implements OperationHandler<RemovePasskey> {
  constructor(
    private readonly access: AccessCommands,
    private readonly sessions: ConsoleSessionTable,
  ) {}

  /** The device may be lost: the sessions of the person end, too. */
  async execute({ subjectId, parameters: { credential_id: credentialId } }: RemovePasskey): Promise<void> {
    await this.sessions.endAll(subjectId);
    await this.access.change(operatorPerson, subjectId, (state, at) =>
      removePasskey({ credentialId, at }, state),
    );
  }
}

/** The console requests it for its person (ADR 177). Throws `not_found`, or `invalid_transition` for a disabled person. */
@Operation({ ...OPERATOR, name: 'operators.add_passkey' })
export class AddPasskey extends OperatorCommand<Passkey> {}

@CommandHandler(AddPasskey)
export class AddPasskeyHandler implements OperationHandler<AddPasskey> {
  constructor(private readonly access: AccessCommands) {}

  async execute({ subjectId, parameters: passkey }: AddPasskey): Promise<void> {
    await this.access.change(operatorPerson, subjectId, (state, at) => addPasskey({ passkey, at }, state));
  }
}

/** The console requests it for its person (ADR 177). Throws `forbidden` for a role that gives more. */
@Operation({ ...OPERATOR, name: 'operators.lower_role' })
export class LowerRole extends OperatorCommand<{ readonly role: string }> {}

@CommandHandler(LowerRole)
export class LowerRoleHandler implements OperationHandler<LowerRole> {
  constructor(private readonly access: AccessCommands) {}

  /** Requires the revision of the subject: this command might raise a role that was lowered in between. */
  async check({ subjectId, parameters }: LowerRole): Promise<void> {
    if ((await findGained(this.access, subjectId, parameters)).length > 0)
      throw new DomainError('forbidden', 'A higher role needs a second person');
  }

  async execute({ subjectId, parameters: change }: LowerRole): Promise<void> {
    await this.access.change(operatorPerson, subjectId, (state, at) => updateOperator({ change, at }, state));
  }
}

export const OPERATOR_HANDLERS = [
  CreateOperatorHandler,
  IssueLoginLinkHandler,
  LowerRoleHandler,
  UpdateOperatorHandler,
  AddPasskeyHandler,
  RemovePasskeyHandler,
];
