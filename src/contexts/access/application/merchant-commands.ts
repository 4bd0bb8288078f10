import { Injectable, Inject } from '@nestjs/common';
import type { Aggregate, DomainEvent } from '../../../kernel/aggregate.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import type { Claim } from '../../../platform/event-store/command-loop-types.js';
import { SubscriptionProgress } from '../../../platform/projections/subscription-progress.js';
import { DIRECTORY_VIEW } from '../views/directory-projection.js';
import { CommandHandler } from '@nestjs/cqrs';
import { DomainError } from '../../../kernel/domain-error.js';
import { httpConfig, type HttpConfig } from '../../../platform/config/config.js';
import { Operation, OperatorCommand, type OperationHandler } from '../../../platform/operations/operation.js';
import {
  merchant,
  registerMerchant,
  reinstateMerchant,
  requireMerchant,
  suspendMerchant,
  updateMerchant,
  type MerchantChange,
} from '../domain/merchant.js';
import { canonicalCallbacks, canonicalCidrs, canonicalOrigins } from './allow-lists.js';

/** Decides on one aggregate, then waits, for a bounded time, until the directory has the change: a printed secret can be used at once. */
@Injectable()
export class AccessCommands {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly progress: SubscriptionProgress,
  ) {}

  /** The state by the events, without any delay. */
  async load<State, Event extends DomainEvent>(
    aggregate: Aggregate<State, Event>,
    id: string,
  ): Promise<State> {
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

const MERCHANT = {
  subject: 'merchant',
  scope: 'merchants:write',
  streams: (id: string) => [`merchant-${id}`],
} as const;

/** A new merchant without a key. Throws `validation_failed` on `name`. */
@Operation({ ...MERCHANT, name: 'merchants.register' })
export class CreateMerchant extends OperatorCommand<{ readonly name: string }> {}

@CommandHandler(CreateMerchant)
class CreateMerchantHandler implements OperationHandler<CreateMerchant> {
  constructor(private readonly access: AccessCommands) {}

  async check({ subjectId: merchantId, parameters: { name } }: CreateMerchant): Promise<void> {
    const state = await this.access.load(merchant, merchantId);
    registerMerchant({ merchantId, name, at: '' }, state);
  }

  async execute({ subjectId: merchantId, parameters: { name } }: CreateMerchant): Promise<void> {
    await this.access.change(merchant, merchantId, (state, at) =>
      registerMerchant({ merchantId, name, at }, state),
    );
  }
}

/** Changes settings of a merchant, all or none. Throws `not_found`, or `validation_failed` on the field at fault. */
@Operation({ ...MERCHANT, name: 'merchants.update', secondPerson: 'depends' })
export class UpdateMerchant extends OperatorCommand<MerchantChange> {}

@CommandHandler(UpdateMerchant)
class UpdateMerchantHandler implements OperationHandler<UpdateMerchant> {
  constructor(
    private readonly access: AccessCommands,
    @Inject(httpConfig.KEY) private readonly config: HttpConfig,
  ) {}

  /** A higher limit needs a second person. */
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

/** Throws `validation_failed` on the field at fault. */
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

/** Every call of the merchant gets 403 from now on. Throws `not_found`. */
@Operation({ ...MERCHANT, name: 'merchants.suspend', secondPerson: 'after' })
export class SuspendMerchant extends OperatorCommand {}

@CommandHandler(SuspendMerchant)
class SuspendMerchantHandler implements OperationHandler<SuspendMerchant> {
  constructor(private readonly access: AccessCommands) {}

  check({ subjectId }: SuspendMerchant): Promise<void> {
    return requireStatus(this.access, subjectId, 'active');
  }

  async execute({ subjectId }: SuspendMerchant): Promise<void> {
    await this.access.change(merchant, subjectId, (state, at) => suspendMerchant({ at }, state));
  }
}

/** Ends a suspension. Throws `not_found`. */
@Operation({ ...MERCHANT, name: 'merchants.reinstate', secondPerson: 'before' })
export class ReinstateMerchant extends OperatorCommand {}

@CommandHandler(ReinstateMerchant)
class ReinstateMerchantHandler implements OperationHandler<ReinstateMerchant> {
  constructor(private readonly access: AccessCommands) {}

  check({ subjectId }: ReinstateMerchant): Promise<void> {
    return requireStatus(this.access, subjectId, 'suspended');
  }

  async execute({ subjectId }: ReinstateMerchant): Promise<void> {
    await this.access.change(merchant, subjectId, (state, at) => reinstateMerchant({ at }, state));
  }
}

async function requireStatus(
  access: AccessCommands,
  id: string,
  status: 'active' | 'suspended',
): Promise<void> {
  const { status: current } = requireMerchant(await access.load(merchant, id));
  if (current !== status) throw new DomainError('invalid_transition', `The merchant is ${current}`);
}

export const MERCHANT_HANDLERS = [
  UpdateMerchantHandler,
  CreateMerchantHandler,
  SuspendMerchantHandler,
  ReinstateMerchantHandler,
];
