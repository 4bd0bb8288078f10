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
  requireOperator,
  operatorPerson,
  removePasskey,
  updateOperator,
  type OperatorChange,
  type OperatorPerson,
  type Passkey,
} from './operator.js';
import { ROLE_SCOPES, scopesGained, type Role, type Scope } from './roles.js';
import { ConsoleSessionTable, LoginSecrets } from '../console/console-sessions.store.js';
import { DIRECTORY_VIEW, OperatorsView } from '../merchants/directory.view.js';
import { AccessCommands, decisionHandler } from '../merchants/merchants.commands.js';
import { accessConfig, type AccessConfig } from '../access.config.js';

const EMAIL_TAKEN = 'is used by another operator';

/** The ids of the two operators that the shell adds without approval. One operator could approve nothing. */
const FIRST_OPERATORS = ['1', '2'].map((place) => deriveId('first operator', place));

const OPERATOR = {
  subject: 'operator',
  scope: 'operators:write',
  streams: (id: string) => [`operator-${id}`],
} as const;

function emailInUse(): DomainError {
  return DomainError.invalid({ email: [EMAIL_TAKEN] }).asTransient();
}

/** Returns the next of FIRST_OPERATORS, or null once two operators exist, disabled ones included. */
export async function nextFirstOperator(
  access: AccessCommands,
  operators: OperatorsView,
): Promise<string | null> {
  const states = await Promise.all(FIRST_OPERATORS.map((id) => access.load(operatorPerson, id)));
  const next = FIRST_OPERATORS.find((_, place) => states[place]!.status === 'unknown');
  // Other operators may have been added with an approval.
  return next !== undefined && (await operators.count()) < FIRST_OPERATORS.length ? next : null;
}

interface Login {
  /** The login link; absent with OpenID Connect, which identifies the person by the email. */
  readonly login_url?: string;
}

interface NewPerson extends Readonly<Record<'name' | 'email', string>> {
  readonly role: Role;
  /** True for one of the first two operators, whom no second person can approve. */
  readonly is_first?: true;
}

/** Creates an operator. Throws `validation_failed` on `name` or `email`, also for an email in use. */
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
    return ROLE_SCOPES[parameters.role];
  }

  async check({ subjectId: operator_id, parameters: person }: CreateOperator): Promise<void> {
    const state = await this.access.load(operatorPerson, operator_id);
    createOperator({ ...person, operator_id, at: '' }, state);
    if (person.is_first && (await nextFirstOperator(this.access, this.operators)) !== operator_id)
      throw new DomainError('invalid_transition', 'There are operators already: add others in the console');
    if ((await this.operators.byEmail(tidy(person.email))) !== null) throw emailInUse();
  }

  async execute({ subjectId: operator_id, parameters: person }: CreateOperator): Promise<Login> {
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
        operator_id,
        (state, at) => createOperator({ operator_id, ...person, at }, state),
        { claims: [claim] },
      );
    } catch (error) {
      if (error instanceof ClaimHeld) throw emailInUse();
      throw error;
    }
    return this.login(operator_id);
  }

  /** Returns a new login link if the approver repeats the approval and the person has no passkey yet. */
  async follow({ subjectId }: CreateOperator, { status, by }: OperationProgress): Promise<Login> {
    if (status !== 'executed' || by !== 'approver') return {};
    const { passkeys } = requireOperator(await this.access.load(operatorPerson, subjectId));
    return passkeys.length === 0 ? this.login(subjectId) : {};
  }

  private async login(id: string): Promise<Login> {
    return this.config.adminOidcIssuer === null ? { login_url: await this.links.issueLink(id) } : {};
  }
}

/** Creates a one-time link with which the person enrols a passkey. */
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

  /** Requires a second person. Otherwise the shell could sign in and approve its own requests. */
  async secondPerson(): Promise<'before' | null> {
    const isFree =
      this.config.mode === 'sandbox' || (await nextFirstOperator(this.access, this.operators)) !== null;
    return isFree ? null : 'before';
  }

  async grants({ subjectId }: IssueLoginLink): Promise<readonly Scope[]> {
    return ROLE_SCOPES[requireOperator(await this.access.load(operatorPerson, subjectId)).role];
  }

  async check({ subjectId }: IssueLoginLink): Promise<void> {
    if (requireOperator(await this.access.load(operatorPerson, subjectId)).status === 'disabled')
      throw new DomainError('invalid_transition', 'The operator is disabled');
  }

  async execute({ subjectId }: IssueLoginLink): Promise<Login> {
    return { login_url: await this.links.issueLink(subjectId) };
  }
}

/** Returns the scopes that the change adds. Enabling a person adds all scopes of the role. */
function findGained(change: OperatorChange, state: OperatorPerson): readonly Scope[] {
  const person = requireOperator(state);
  const { role = person.role, status } = change;
  return person.status === 'disabled' && status === 'active'
    ? ROLE_SCOPES[role]
    : scopesGained(role, person.role);
}

/** Changes role or status. Disabling ends all keys and sessions. Throws `not_found`. */
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

  async grants({ subjectId, parameters }: UpdateOperator): Promise<readonly Scope[]> {
    return findGained(parameters, await this.access.load(operatorPerson, subjectId));
  }

  async execute({ subjectId, parameters: change }: UpdateOperator): Promise<void> {
    await this.keepTwoAdministrators(subjectId, change);
    await this.access.change(operatorPerson, subjectId, (state, at) => updateOperator({ change, at }, state));
  }

  /** Throws `invalid_transition` if only one administrator would remain, who alone can approve nothing. */
  private async keepTwoAdministrators(id: string, { role, status }: OperatorChange): Promise<void> {
    const ends = status === 'disabled' || (role !== undefined && role !== 'administrator');
    if (!ends || !isAdministrator(await this.access.load(operatorPerson, id))) return;
    await this.progress.requireCurrent(DIRECTORY_VIEW);
    let left = 0;
    for (const other of await this.operators.administrators()) {
      const { state, revision } = await this.loop.load(operatorPerson, other);
      if (other === id || !isAdministrator(state)) continue;
      // The revision check refuses one request if two administrators disable each other at the same time.
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

@Operation({ ...OPERATOR, name: 'operators.remove_passkey' })
export class RemovePasskey extends OperatorCommand<{ readonly credential_id: string }> {}

@CommandHandler(RemovePasskey)
class RemovePasskeyHandler implements OperationHandler<RemovePasskey> {
  constructor(
    private readonly access: AccessCommands,
    private readonly sessions: ConsoleSessionTable,
  ) {}

  /** Ends the sessions of the person too, because the device may be lost. */
  async execute({ subjectId, parameters: { credential_id } }: RemovePasskey): Promise<void> {
    await this.sessions.endAll(subjectId);
    await this.access.change(operatorPerson, subjectId, (state, at) =>
      removePasskey({ credential_id, at }, state),
    );
  }
}

/** Adds a passkey that the person enrols (ADR 177). Throws `not_found` or `invalid_transition`. */
@Operation({ ...OPERATOR, name: 'operators.add_passkey' })
export class AddPasskey extends OperatorCommand<Passkey> {}

export const AddPasskeyHandler = decisionHandler(
  AddPasskey,
  operatorPerson,
  ({ parameters: passkey }, state, at) => addPasskey({ passkey, at }, state),
);

/** Lowers the role of the person at a login (ADR 177). Throws `forbidden` for a role that adds scopes. */
@Operation({ ...OPERATOR, name: 'operators.lower_role' })
export class LowerRole extends OperatorCommand<{ readonly role: Role }> {}

export const LowerRoleHandler = decisionHandler(
  LowerRole,
  operatorPerson,
  ({ parameters: change }, state, at) => updateOperator({ change, at }, state),
  {
    // The operation fails if the person changes after this check, for example to a lower role.
    check: ({ parameters }, state) => {
      if (findGained(parameters, state).length > 0)
        throw new DomainError('forbidden', 'A second person must approve a higher role');
    },
  },
);

export const OPERATOR_HANDLERS = [
  CreateOperatorHandler,
  IssueLoginLinkHandler,
  LowerRoleHandler,
  UpdateOperatorHandler,
  AddPasskeyHandler,
  RemovePasskeyHandler,
];
