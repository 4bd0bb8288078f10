import { CommandBus } from '@nestjs/cqrs';
import { DomainError } from '../../../kernel/domain-error.js';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { defineOperation, type Get } from '../../../platform/operations/operation-definition.js';
import { merchant, registerMerchant, updateMerchant, type MerchantChange } from '../domain/merchant.js';
import {
  CreateMerchant,
  canonicalChange,
  ReinstateMerchant,
  SuspendMerchant,
  UpdateMerchant,
} from './merchant-commands.js';

/** What is recorded of a PATCH: the members that it has, as in its body. */
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

function changeOf({ name, ip_allow_list: cidrs, embedding, limits }: UpdateParameters): MerchantChange {
  const { display_name: displayName, ...lists } = embedding ?? {};
  return {
    name,
    cidrs,
    embedding: embedding && { ...lists, ...(displayName !== undefined && { displayName }) },
    requestsPerMinute: limits?.requests_per_minute,
  };
}

const MERCHANT = {
  subject: 'merchant',
  streams: (id: string) => [`merchant-${id}`],
} as const;
const WRITE = { ...MERCHANT, scope: 'merchants:write' } as const;

/** Whether more requests a minute are let in than now. */
async function raisesLimit(parameters: UpdateParameters, get: Get, id: string): Promise<boolean> {
  if (parameters.limits === undefined) return false;
  const { rateLimitPerMinute } = get<Config>(CONFIG);
  const { state } = await get(CommandLoop).load(merchant, id);
  const former = state.status === 'unknown' ? null : state.requestsPerMinute;
  return (parameters.limits.requests_per_minute ?? rateLimitPerMinute) > (former ?? rateLimitPerMinute);
}

export const merchantOperations = [
  defineOperation<{ name: string }>({
    ...WRITE,
    name: 'merchants.register',
    check: async ({ name }, get, id) => {
      const { state } = await get(CommandLoop).load(merchant, id);
      registerMerchant({ merchantId: id, name, secret: null, at: '' }, state);
    },
    execute: async ({ subjectId, parameters: { name } }, get) =>
      void (await get(CommandBus).execute(new CreateMerchant(subjectId, name))),
  }),
  defineOperation<UpdateParameters>({
    ...WRITE,
    name: 'merchants.update',
    secondPerson: async (parameters, get, id) => ((await raisesLimit(parameters, get, id)) ? 'before' : null),
    check: async (parameters, get, id) => {
      const { state } = await get(CommandLoop).load(merchant, id);
      const change = canonicalChange(changeOf(parameters), get<Config>(CONFIG).mode);
      updateMerchant({ change, at: '' }, state);
    },
    execute: async ({ subjectId, parameters }, get) =>
      void (await get(CommandBus).execute(new UpdateMerchant(subjectId, changeOf(parameters)))),
  }),
  defineOperation({
    ...WRITE,
    name: 'merchants.suspend',
    secondPerson: 'after',
    check: (_, get, id) => requireStatus(get, id, 'active'),
    execute: async ({ subjectId }, get) =>
      void (await get(CommandBus).execute(new SuspendMerchant(subjectId))),
  }),
  defineOperation({
    ...WRITE,
    name: 'merchants.reinstate',
    secondPerson: 'before',
    check: (_, get, id) => requireStatus(get, id, 'suspended'),
    execute: async ({ subjectId }, get) =>
      void (await get(CommandBus).execute(new ReinstateMerchant(subjectId))),
  }),
];

async function requireStatus(get: Get, id: string, status: 'active' | 'suspended'): Promise<void> {
  const { state } = await get(CommandLoop).load(merchant, id);
  if (state.status === 'unknown') throw DomainError.notFound('Merchant');
  if (state.status !== status) throw new DomainError('invalid_transition', `The merchant is ${state.status}`);
}
