import { DAY_MS } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { CONTEXTS, knownTypes, type Context } from '../../../platform/context.js';
import { defineOperation, type Get } from '../../../platform/operations/operation-definition.js';
import { PassingTypes } from '../../../platform/projections/passing-types.js';
import { ReadModelRebuild } from '../../../platform/projections/read-model-rebuild.js';
import { masterKeysOf } from '../../../platform/sealing/key-ring.js';
import { FRESH_AFTER_SECONDS, KeyRotation } from '../../../platform/sealing/key-rotation.js';
import { Rebuilds } from '../../../platform/projections/rebuilds.js';

const NO_STREAMS = { scope: 'system:write', streams: () => [] } as const;

/** The master key that the process has; the subject of operations on it, which any process may execute. */
export function masterKeyId(get: Get): string {
  return masterKeysOf(get<Config>(CONFIG)).current.id;
}

/** Of the platform (admin-api.md 3, `/system`). */
export const systemOperations = [
  defineOperation<{ readonly compare: boolean }>({
    ...NO_STREAMS,
    name: 'projections.rebuild',
    subject: 'projection',
    // A program rebuilds before it ends.
    takesMs: DAY_MS / 4,
    check: async (_, get, name) => {
      if (!get(ReadModelRebuild).names().includes(name)) throw DomainError.notFound('Projection');
    },
    execute: ({ subjectId, parameters: { compare } }, get) => get(Rebuilds).start(subjectId, { compare }),
  }),
  defineOperation({
    ...NO_STREAMS,
    name: 'event_types.let_pass',
    subject: 'event_type',
    secondPerson: 'before',
    check: async (_, get, type) => {
      if (knownTypes(get<readonly Context[]>(CONTEXTS)).has(type))
        throw new DomainError('invalid_transition', `This version knows ${type}: nothing waits at it.`);
    },
    execute: ({ subjectId, reason }, get) => get(PassingTypes).allow(subjectId, reason),
  }),
  defineOperation({
    ...NO_STREAMS,
    name: 'event_types.hold',
    subject: 'event_type',
    check: async (_, get, type) => {
      if (!(await get(PassingTypes).includes(type)))
        throw new DomainError('not_found', `There is no rule for ${type}.`);
    },
    execute: async ({ subjectId }, get) => void (await get(PassingTypes).forbid(subjectId)),
  }),
  defineOperation({
    ...NO_STREAMS,
    name: 'master_key.retire_former',
    subject: 'master_key',
    secondPerson: 'before',
    execute: async ({ id, subjectId }, get) => {
      const { current, former } = masterKeysOf(get<Config>(CONFIG));
      // Approved for another MASTER_KEY: the process has an older one, or a newer one.
      if (current.id !== subjectId)
        throw new DomainError(
          'invalid_transition',
          `MASTER_KEY of this process is ${current.id}, not ${subjectId}`,
        );
      return { retired: await get(KeyRotation).retireFormer({ current, former }, id) };
    },
  }),
  defineOperation({
    ...NO_STREAMS,
    name: 'keys.create',
    subject: 'master_key',
    execute: async ({ id }, get) => ({
      key_id: await get(KeyRotation).addFreshKey(masterKeysOf(get<Config>(CONFIG)), id),
      seals_in_seconds: FRESH_AFTER_SECONDS,
    }),
  }),
];
