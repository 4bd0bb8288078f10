import { Injectable, Inject, type Type } from '@nestjs/common';
import type { Aggregate, DomainEvent } from '../../../kernel/aggregate.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import type { Claim } from '../../../platform/event-store/command-loop-types.js';
import { SubscriptionProgress } from '../../../platform/projections/subscription-progress.js';
import { DIRECTORY_VIEW } from './directory.view.js';
import { CommandHandler } from '@nestjs/cqrs';
import { DomainError } from '../../../kernel/domain-error.js';
import { httpConfig, type HttpConfig } from '../../../platform/config/config.js';
import {
  Operation,
  OperatorCommand,
  type AnyCommand,
  type OperationHandler,
} from '../../../platform/operations/operation.js';
import {
  merchant,
  registerMerchant,
  reinstateMerchant,
  requireMerchant,
  suspendMerchant,
  updateMerchant,
  type Merchant,
  type MerchantChange,
} from './merchant.js';
import { canonicalCallbacks, canonicalCidrs, canonicalOrigins } from '../credentials/allow-lists.service.js';

/** Writes an aggregate, then waits briefly for the directory view, so that a new secret works at once. */
@Injectable()
export class AccessCommands {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly progress: SubscriptionProgress,
  ) {}

  /** Loads a state from its events, because the directory view may lag. */
  async load<S, E extends DomainEvent>(aggregate: Aggregate<S, E>, id: string): Promise<S> {
    return (await this.loop.load(aggregate, id)).state;
  }

  async change<State, Event extends DomainEvent>(
    aggregate: Aggregate<State, Event>,
    id: string,
    decide: (state: State, at: string) => readonly Event[],
    { claims = [], cause }: { claims?: readonly Claim[]; cause?: EventMetadata | undefined } = {},
  ): Promise<void> {
    const at = timestamp(this.clock);
    const { position } = await this.loop.execute(aggregate, id, (state) => decide(state, at), {
      metadata: cause ?? { actor: 'operator' },
      claims,
    });
    await this.progress.waitFor(DIRECTORY_VIEW, position);
  }
}

type Caused = AnyCommand & { readonly cause?: EventMetadata };

/** Creates a handler that applies `decide` to one aggregate, by default the subject of the command. */
export function decisionHandler<Of extends Caused, State, Event extends DomainEvent>(
  command: Type<Of>,
  aggregate: Aggregate<State, Event>,
  decide: (command: Of, state: State, at: string) => readonly Event[],
  {
    id = ({ subjectId }) => subjectId,
    check,
  }: { id?: (command: Of) => string; check?: (command: Of, state: State) => unknown } = {},
): Type<OperationHandler<Of>> {
  @Injectable()
  class DecisionHandler {
    constructor(private readonly access: AccessCommands) {}

    async check(given: Of): Promise<void> {
      if (check !== undefined) check(given, await this.access.load(aggregate, id(given)));
    }

    execute(given: Of): Promise<void> {
      const { cause } = given;
      return this.access.change(aggregate, id(given), (state, at) => decide(given, state, at), { cause });
    }
  }
  CommandHandler(command)(DecisionHandler);
  return DecisionHandler as unknown as Type<OperationHandler<Of>>;
}

const MERCHANT = {
  subject: 'merchant',
  scope: 'merchants:write',
  streams: (id: string) => [`merchant-${id}`],
} as const;

/** Creates a merchant without a key. Throws `validation_failed` on `name`. */
@Operation({ ...MERCHANT, name: 'merchants.register' })
export class CreateMerchant extends OperatorCommand<{ readonly name: string }> {}

const register = ({ subjectId: merchant_id, parameters }: CreateMerchant, state: Merchant, at = '') =>
  registerMerchant({ merchant_id, name: parameters.name, at }, state);

/** Changes all given settings or none. Throws `not_found`, or `validation_failed` on the field at fault. */
@Operation({ ...MERCHANT, name: 'merchants.update', secondPerson: 'depends' })
export class UpdateMerchant extends OperatorCommand<MerchantChange> {}

@CommandHandler(UpdateMerchant)
class UpdateMerchantHandler implements OperationHandler<UpdateMerchant> {
  constructor(
    private readonly access: AccessCommands,
    @Inject(httpConfig.KEY) private readonly config: HttpConfig,
  ) {}

  /** Requires a second person for a higher rate limit. */
  async secondPerson({ subjectId, parameters: { limits } }: UpdateMerchant): Promise<'before' | null> {
    if (limits === undefined) return null;
    const { rateLimitPerMinute } = this.config;
    const state = await this.access.load(merchant, subjectId);
    const former = state.status === 'unknown' ? null : state.requests_per_minute;
    const isHigher = (limits.requests_per_minute ?? rateLimitPerMinute) > (former ?? rateLimitPerMinute);
    return isHigher ? 'before' : null;
  }

  async check({ subjectId, parameters }: UpdateMerchant): Promise<void> {
    const state = await this.access.load(merchant, subjectId);
    updateMerchant({ change: canonicalChange(parameters, this.config.mode), at: '' }, state);
  }

  async execute({ subjectId, parameters }: UpdateMerchant): Promise<void> {
    const change = canonicalChange(parameters, this.config.mode);
    await this.access.change(merchant, subjectId, (state, at) => updateMerchant({ change, at }, state));
  }
}

function canonicalChange(
  { ip_allow_list, embedding, ...change }: MerchantChange,
  mode: HttpConfig['mode'],
): MerchantChange {
  const { origins, callbacks } = embedding ?? {};
  const lists = {
    ...(origins && { origins: canonicalOrigins(origins, mode) }),
    ...(callbacks && { callbacks: canonicalCallbacks(callbacks) }),
  };
  return {
    ...change,
    ...(ip_allow_list && { ip_allow_list: canonicalCidrs(ip_allow_list) }),
    ...(embedding && { embedding: { ...embedding, ...lists } }),
  };
}

/** Suspends a merchant. Its calls then get 403. Throws `not_found`. */
@Operation({ ...MERCHANT, name: 'merchants.suspend', secondPerson: 'after' })
export class SuspendMerchant extends OperatorCommand {}

@Operation({ ...MERCHANT, name: 'merchants.reinstate', secondPerson: 'before' })
export class ReinstateMerchant extends OperatorCommand {}

const requireStatus = (status: 'active' | 'suspended') => (_: AnyCommand, state: Merchant) => {
  const { status: current } = requireMerchant(state);
  if (current !== status) throw new DomainError('invalid_transition', `The merchant is ${current}`);
};

export const MERCHANT_HANDLERS = [
  UpdateMerchantHandler,
  decisionHandler(CreateMerchant, merchant, register, { check: register }),
  decisionHandler(SuspendMerchant, merchant, (_, state, at) => suspendMerchant({ at }, state), {
    check: requireStatus('active'),
  }),
  decisionHandler(ReinstateMerchant, merchant, (_, state, at) => reinstateMerchant({ at }, state), {
    check: requireStatus('suspended'),
  }),
];
