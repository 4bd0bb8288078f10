import { Inject } from '@nestjs/common';
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
import { AccessCommands } from './access-commands.js';
import { canonicalCallbacks, canonicalCidrs, canonicalOrigins } from './allow-lists.js';

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

/** The members of a PATCH that it has. */
interface UpdateParameters {
  readonly name?: string;
  readonly ip_allow_list?: readonly string[];
  readonly embedding?: {
    readonly origins?: readonly string[];
    readonly callbacks?: readonly string[];
    readonly display_name?: string | null;
  };
  readonly limits?: { readonly requests_per_minute: number | null };
}

/** At once, or not at all. Throws `not_found`, or `validation_failed` on the field at fault. */
@Operation({ ...MERCHANT, name: 'merchants.update', secondPerson: 'depends' })
export class UpdateMerchant extends OperatorCommand<UpdateParameters> {}

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
    const former = state.status === 'unknown' ? null : state.requestsPerMinute;
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
  { name, ip_allow_list: cidrs, embedding, limits }: UpdateParameters,
  mode: HttpConfig['mode'],
): MerchantChange {
  const { display_name: displayName, origins, callbacks } = embedding ?? {};
  return {
    name,
    requestsPerMinute: limits?.requests_per_minute,
    ...(cidrs && { cidrs: canonicalCidrs(cidrs) }),
    ...(embedding && {
      embedding: {
        ...(origins && { origins: canonicalOrigins(origins, mode) }),
        ...(callbacks && { callbacks: canonicalCallbacks(callbacks) }),
        ...(displayName !== undefined && { displayName }),
      },
    }),
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
